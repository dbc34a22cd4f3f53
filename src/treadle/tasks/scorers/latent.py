"""Partial credit on the simulated surface ``archon``: the chance that a reply of this quality is right."""

from __future__ import annotations

import re
from dataclasses import dataclass

from treadle.models.simulated_marks import Mark, marks
from treadle.models.simulated_questions import NORMAL, SimulatedQuestion
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer

_LETTER = re.compile(r"^Answer: (?P<letter>[A-Z])$", re.MULTILINE)
_BEST = 9.0


@dataclass(frozen=True)
class LatentScorer(AnswerScorer):
    """Φ of the quality that a reply's mark states, Φ the normal distribution function; votes compare the letter.

    A simulated reply of quality q gives the right letter with probability Φ(q), so that the credit is the chance of
    being right, and scores carry less noise than right or wrong would. Only a mark that bears the sample's own question
    and its seal counts; the last of several. A reply without one has no answer.
    """

    @property
    def name(self) -> str:
        """``latent``."""
        return "latent"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The last letter and mark of the question, as a short reply of their own."""
        text = without_thinking(reply)
        found = marks(text, None if sample is None else sample.id)
        letters = _LETTER.findall(text)
        return f"{found[-1]}\nAnswer: {letters[-1]}" if found and letters else ""

    def grade(self, sample: Sample, answer: str) -> float:
        """The chance, from 0 to 1."""
        return chance(marks(answer, sample.id)[-1].quality)

    def equal(self, a: str, b: str) -> bool:
        """The same letter."""
        return _LETTER.findall(a)[-1] == _LETTER.findall(b)[-1]


def chance(quality: float) -> float:
    """The chance that a reply of a quality is right."""
    return NORMAL.cdf(quality)


def reference(question: SimulatedQuestion) -> str:
    """A perfect reply to a question."""
    return f"{Mark(question.id, _BEST, _BEST)}\nAnswer: {question.truth}"
