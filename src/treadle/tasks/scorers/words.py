"""The same words in the same order, whatever stands between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from treadle.parsing.answers import normalise_text
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer, alternatives, marked_answer


@dataclass(frozen=True)
class WordsScorer(AnswerScorer):
    """Right when the marked answer (else the whole reply) has the target's words in its order.

    Commas between words and line breaks count as spaces, and so do list marks; case does not count.
    """

    answer_format: str = ""

    @property
    def name(self) -> str:
        """``words``."""
        return "words"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The marked answer, else the whole reply."""
        return marked_answer(reply)

    def grade(self, sample: Sample, answer: str) -> float:
        """1 or 0."""
        return float(any(self.equal(answer, text) for text in alternatives(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """The same words."""
        return _words(a) == _words(b)


def _words(text: str) -> str:
    lines = (re.sub(r"^\s*(?:[-*\u2022]|\d+[.)])\s+", "", line) for line in text.splitlines())
    return normalise_text(" ".join(re.sub(r",\s*", " ", " ".join(lines)).split()))
