"""Whether what is printed is a simulation, so that it can be said beside the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treadle.cli.options import Asking
    from treadle.ledger.session import Session

_SIMULATED = "simulated:"


def is_simulated(session: Session, names: Iterable[str]) -> bool:
    """Whether any of these tasks and models is simulated.

    Args:
        session: Knows what aliases stand for.
        names: Tasks, aliases and ``provider:model`` names.
    """
    models = session.settings.models
    return any((models[name].model if name in models else name).startswith(_SIMULATED) for name in names)


def named(session: Session, options: Asking) -> list[str]:
    """The models a command was told to use, or those that the file names for it."""
    return players(session, options.cast(), options.roles())


def players(session: Session, models: Sequence[str], roles: Mapping[str, str]) -> list[str]:
    """The same, of models and roles."""
    return [*(models or session.roles.values() or session.aliases[:1]), *roles.values()]


def called(trace: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The models that a trace's calls went to."""
    for entry in trace:
        if "call" in entry:
            yield entry["call"]
        yield from called(entry.get("children") or ())
