"""Noticing that a worker does the same again and again."""

from __future__ import annotations

from dataclasses import dataclass, field

WARNED_AT = 3
"""So often the same action with the same outcome is worth a word."""
STUCK_AT = 5
"""So often it is the end."""
_PERIODS = (1, 2, 3)


@dataclass(slots=True)
class Repetition:
    """The steps so far, each an action with its outcome."""

    steps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def add(self, action: str, outcome: str) -> int:
        """Note a step; gives how often it, or the two or three steps that end with it, stand there in a row."""
        self.steps.append((action, outcome))
        return max(map(self._rounds, _PERIODS))

    def _rounds(self, period: int) -> int:
        steps, rounds = self.steps, 1
        last = steps[-period:]
        while len(last) == period and steps[-period * (rounds + 1) : -period * rounds] == last:
            rounds += 1
        return rounds
