"""The same number, within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treadle.parsing.boxed import boxed
from treadle.parsing.final_answer import final_answer
from treadle.parsing.numbers import first_number, gsm8k_answer, same_number, to_number
from treadle.parsing.thinking import without_thinking
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
        return number_text(reply)

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


def number_text(reply: str) -> str:
    """The number that a reply gives, or nothing: the whole reply, what it marks as its answer or boxes, or the last.

    Fractions are kept where nothing else stands beside them.
    """
    text = without_thinking(reply).strip()
    for part in (text, final_answer(text), boxed(text)):
        value = to_number(part) if part else None
        if part and value is not None:
            plain = first_number(part)
            return plain if plain is not None and to_number(plain) == value else part.strip()
    return gsm8k_answer(text) or ""
