"""Token F1 against the best of several golds, with numbers compared as numbers (DROP, HotpotQA)."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.parsing.answers import f1
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer, alternatives, marked_answer


@dataclass(frozen=True)
class F1Scorer(AnswerScorer):
    """The overlap of the answer's tokens with the best alternative of the target, between 0 and 1."""

    answer_format: str = ""

    @property
    def name(self) -> str:
        """``f1``."""
        return "f1"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The marked answer, else the whole reply."""
        return marked_answer(reply)

    def grade(self, sample: Sample, answer: str) -> float:
        """The F1 of the best alternative."""
        return f1(answer, list(alternatives(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """All tokens are the same."""
        return f1(a, [b]) == 1.0 and f1(b, [a]) == 1.0
