"""What leaked in a measurement, as documents list it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from treadle.evaluation.outcome import Outcome

Leaks = list[dict[str, Any]]
"""Hidden tests that stood in prompts: sample, workflow, repeat and test of each."""


def leaks_of(workflow: str, outcomes: Iterable[Outcome]) -> Leaks | None:
    """The leaks of one workflow; ``None`` where no question has hidden tests."""
    checked = [outcome for outcome in outcomes if outcome.leaks is not None]
    found = [
        {"sample": outcome.id, "workflow": workflow, "repeat": outcome.repeat, "test": test}
        for outcome in checked
        for test in outcome.leaks or ()
    ]
    return found if checked else None


def joined(lists: Iterable[Leaks | None]) -> Leaks | None:
    """The leaks of several rows, each once; ``None`` where none of them has hidden tests."""
    known = [leaks for leaks in lists if leaks is not None]
    unique = {tuple(leak.values()): leak for leaks in known for leak in leaks}
    return list(unique.values()) if known else None


def leak_message(leaks: Leaks | None) -> str:
    """Who leaked, in words; empty where nobody did."""
    names = dict.fromkeys(leak["workflow"] for leak in leaks or ())
    return f"hidden tests stood in the prompts of {', '.join(names)}: not usable" if names else ""
