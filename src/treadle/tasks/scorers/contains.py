"""The target stands somewhere in the reply, as whole words."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.parsing.answers import normalise_text
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer, alternatives, marked_answer


@dataclass(frozen=True)
class ContainsScorer(AnswerScorer):
    """Right when one of the target's texts stands in the reply, without regard to case and spacing.

    A reply that lists everything is always right: take it only where that is not to be feared.
    """

    @property
    def name(self) -> str:
        """``contains``."""
        return "contains"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The whole reply without its thinking."""
        return without_thinking(reply).strip()

    def grade(self, sample: Sample, answer: str) -> float:
        """1 or 0."""
        return float(any(_holds(answer, text) for text in alternatives(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """The same marked answer, else the same text."""
        return normalise_text(marked_answer(a)) == normalise_text(marked_answer(b))


def _holds(text: str, part: str) -> bool:
    text, part = (" ".join(each.casefold().split()) for each in (text, part))
    start = text.find(part) if part else -1
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(part) : start + len(part) + 1]
        if not (_joined(before, part[0]) or _joined(part[-1], after)):
            return True
        start = text.find(part, start + 1)
    return False


def _joined(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()
