"""What a run paid, and what its structures would cost fresh."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treadle.models.base import Completion, Usage


@dataclass(slots=True)
class Tally:
    """Counts of one row of a table.

    Attributes:
        logical: Calls that were asked for and answered.
        paid: Calls that this run made and pays for.
        cached: Calls that somebody had paid for already.
        retried: Attempts beyond a call's first, also of calls that failed in the end.
        estimated: Paid calls whose usage is their bound, because the provider said nothing or never answered.
        overrun_tokens: Tokens that providers billed above ``max_tokens``.
        usage: Tokens paid.
        usd: Dollars paid, as far as models have prices.
        unpriced: Whether some model has no price, so that ``usd`` is not a total.
    """

    logical: int = 0
    paid: int = 0
    cached: int = 0
    retried: int = 0
    estimated: int = 0
    overrun_tokens: int = 0
    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    unpriced: bool = False

    def answer(self, completion: Completion) -> None:
        """Count a call that somebody asked for and got."""
        self.logical += 1
        self.cached += completion.cached
        self.unpriced = self.unpriced or completion.usd is None

    def pay(self, completion: Completion, *, overrun: int = 0) -> None:
        """Count a call that this run pays for."""
        self.paid += 1
        self.estimated += completion.estimated
        self.overrun_tokens += overrun
        self.unpriced = self.unpriced or completion.usd is None
        self.usd += completion.usd or 0.0
        if completion.usage is not None:
            self.usage += completion.usage

    def spent(self, seconds: float) -> dict[str, Any]:
        """What was paid, as JSON values.

        Args:
            seconds: Wall clock.
        """
        calls = {"calls_logical": self.logical, "calls_paid": self.paid}
        return {"usd": self.total_usd, **calls, "tokens": self.usage.total, "seconds": seconds}

    @property
    def total_usd(self) -> float | None:
        """Dollars paid, or ``None`` when a model has no price."""
        return None if self.unpriced else self.usd


@dataclass(slots=True)
class FreshCost:
    """What one question cost had every call been made fresh; the scorer's calls are not in it."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: bool = False

    def add(self, completion: Completion) -> None:
        """Count one logical call."""
        self.calls += 1
        if completion.usage is not None:
            self.tokens += completion.usage.total
        if completion.usd is None:
            self.unpriced = True
        else:
            self.usd += completion.usd

    @property
    def total_usd(self) -> float | None:
        """Dollars, or ``None`` when a model has no price."""
        return None if self.unpriced else self.usd
