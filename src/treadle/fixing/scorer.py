"""A patch that nobody grades: the test command says what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.ledger.run import Run
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.unscored import Unscored


@dataclass(frozen=True, slots=True)
class AnyPatch(Unscored):
    """Takes every patch, also an empty one, which is an outcome of its own."""

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Take it."""
        del sample, run
        return Score(1.0 if answer else 0.0, answer, "" if answer else "no file was changed")
