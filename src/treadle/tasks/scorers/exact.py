"""The same text, but for case, spacing and outer punctuation; or the same number."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.parsing.answers import exact_match
from treadle.parsing.final_answer import final_answer
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer, alternatives, marked_answer


@dataclass(frozen=True)
class ExactScorer(AnswerScorer):
    """Right when the marked answer (else the whole reply) is one of the target's texts.

    A reply that marks no answer is one as a whole, and votes as such, however long it is.

    Args:
        answer_format: One sentence for the model.
        marked: Whether a reply of several words must mark its answer to have one.
        case: Whether letter case counts, in grades and in votes.
    """

    answer_format: str = ""
    marked: bool = False
    case: bool = False

    @property
    def name(self) -> str:
        """``exact``, with the option where case counts."""
        return "exact?case=true" if self.case else "exact"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The marked answer, else the whole reply."""
        found = marked_answer(reply)
        unmarked = self.marked and " " in found and final_answer(without_thinking(reply)) is None
        return "" if unmarked else found

    def grade(self, sample: Sample, answer: str) -> float:
        """1 or 0."""
        return float(any(self.equal(answer, text) for text in alternatives(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """The same text after normalisation, or the same number."""
        return exact_match(a, b, case=self.case)
