"""Noticing that a worker does the same again and again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

WARNED_AT = 3
"""So often the same action with the same outcome is worth a word."""
STUCK_AT = 5
"""So often it is the end."""
_PERIODS = (1, 2, 3)
# Times, dates, addresses and process ids; a count such as "4 failures left" is an outcome.
_NOISE = re.compile(r"0x[0-9a-f]+|\d+(?:[.,:-]\d+)+|\d{5,}|\d+ ?(?:[mnuµ]?s|seconds?)\b", re.IGNORECASE)


@dataclass(slots=True)
class Repetition:
    """The steps so far, each an action with its outcome."""

    actions: list[str] = field(default_factory=list[str])
    steps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def add(self, action: str, outcome: str) -> int:
        """Note a step; gives how often it, or the two or three steps that end with it, stand there in a row.

        Times, dates and addresses make no other outcome; actions whose outcomes differ in more count half.
        """
        self.actions.append(action)
        self.steps.append((action, _NOISE.sub("", outcome)))
        return max(_rounds(self.steps), _rounds(self.actions) // 2)


def _rounds(steps: Sequence[object]) -> int:
    """How often the last one to three steps stand there in a row."""
    return max(_rounds_of(steps, period) for period in _PERIODS)


def _rounds_of(steps: Sequence[object], period: int) -> int:
    last, rounds = steps[-period:], 1
    while len(last) == period and steps[-period * (rounds + 1) : -period * rounds] == last:
        rounds += 1
    return rounds
