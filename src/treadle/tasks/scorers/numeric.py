"""The same number, within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treadle.parsing.numbers import gsm8k_answer, same_number, to_number
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer


@dataclass(frozen=True)
class NumericScorer(AnswerScorer):
    """Right when the number that the reply gives is the target's: 7.0 is 7, and 1,045.00 is 1045.

    Args:
        tolerance: The largest absolute difference that is none.
    """

    tolerance: float = 0.0
    answer_format: str = ""

    @property
    def name(self) -> str:
        """``numeric``, with the tolerance where there is one."""
        return f"numeric?tolerance={self.tolerance:g}" if self.tolerance else "numeric"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The number in a reply, or nothing."""
        return gsm8k_answer(reply) or ""

    def grade(self, sample: Sample, answer: str) -> float:
        """1 or 0."""
        return float(self.equal(answer, str(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """The same number within the tolerance."""
        return same_number(a, b, self.tolerance)

    def target_fault(self, target: Any) -> str:
        """What is wrong with a target, to follow its name."""
        number = isinstance(target, str | int | float) and not isinstance(target, bool)
        return "" if number and to_number(str(target)) is not None else "must be a number"
