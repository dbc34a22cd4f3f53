"""No scorer: a question that somebody just asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treadle.ledger.problem import same_text
from treadle.ledger.run import Run
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample, Score


@dataclass(frozen=True, slots=True)
class Unscored:
    """Takes every answer as it is."""

    name: str = "unscored"
    answer_format: str = ""
    judged: bool = False

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Full marks, whatever was answered; nothing is no answer."""
        if not answer.strip():
            return Score(0.0, "", "the model returned nothing", "format")
        return Score(1.0, answer)

    def same(self, a: str, b: str) -> bool:
        """Equality of texts, space and case aside; an empty one is not even the same as itself."""
        return all(without_thinking(reply).strip() for reply in (a, b)) and same_text(a, b)

    def show(self, target: Any) -> str:
        """The target as text."""
        return str(target)
