"""What a part of a run cost, read from its trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from treadle.ledger.trace import CallEntry, Span
from treadle.models.base import Usage


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls, tokens, dollars and seconds of asks, as if each had been made fresh.

    Attributes:
        calls: Asks that were answered.
        usage: Their tokens.
        usd: Their dollars; ``None`` when a model has no price.
        seconds: Their latencies, one after another.
    """

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    usd: float | None = 0.0
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Spent(self.calls + other.calls, self.usage + other.usage, usd, self.seconds + other.seconds)

    def document(self) -> dict[str, Any]:
        """The amounts as JSON values."""
        usage = self.usage
        return {
            "calls": self.calls,
            "input": usage.input,
            "cached_input": usage.cached_input,
            "output": usage.output,
            "reasoning": usage.reasoning,
            "usd": self.usd,
            "seconds": self.seconds,
        }


def spent_by_role(span: Span, *, paid: bool = False) -> dict[str, Spent]:
    """What the asks of a part of a run cost, by the role that was asked; ``""`` where none was named.

    Args:
        span: The part.
        paid: Count only what was not there already.
    """
    found: dict[str, Spent] = {}
    for (role, _), cost in spent_by_player(span, paid=paid).items():
        found[role] = found.get(role, Spent()) + cost
    return found


def spent_by_player(span: Span, *, paid: bool = False) -> dict[tuple[str, str], Spent]:
    """The same by the role that was asked and the model that answered, by the name that people call it.

    Args:
        span: The part.
        paid: Count only what was not there already.
    """
    found: dict[tuple[str, str], Spent] = {}
    for entry in _answered(span):
        if not (paid and entry.cached):
            cost = Spent(1, entry.usage or Usage(), entry.usd, entry.seconds)
            player = entry.role or "", entry.model
            found[player] = found.get(player, Spent()) + cost
    return found


def _answered(span: Span) -> Iterator[CallEntry]:
    for entry in span.entries:
        if isinstance(entry, Span):
            yield from _answered(entry)
        elif isinstance(entry, CallEntry) and entry.error is None:
            yield entry
