"""No scorer: a question that somebody just asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treadle.ledger.problem import same_text
from treadle.ledger.run import Run
from treadle.tasks.base import Sample, Score


@dataclass(frozen=True, slots=True)
class Unscored:
    """Takes every answer as it is."""

    name: str = "unscored"
    answer_format: str = ""
    judged: bool = False

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Full marks, whatever was answered."""
        return Score(1.0, answer)

    def same(self, a: str, b: str) -> bool:
        """Equality of texts, space and case aside."""
        return same_text(a, b)

    def show(self, target: Any) -> str:
        """The target as text."""
        return str(target)
