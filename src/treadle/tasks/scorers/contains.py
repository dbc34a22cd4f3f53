"""The target stands somewhere in the reply, as whole words."""

from __future__ import annotations

from dataclasses import dataclass

from treadle.parsing.answers import normalise_text
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer, alternatives, marked_answer


@dataclass(frozen=True)
class ContainsScorer(AnswerScorer):
    """Right when one of the target's texts stands in the reply as whole words and numbers, whatever case and spacing.

    ``5`` does not stand in ``5.5``, ``1,500`` or ``-5``, nor ``C`` in ``C++``.

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
        before, after = text[max(0, start - 2) : start], text[start + len(part) : start + len(part) + 2]
        if not (_continued(before[::-1], part) or _continues(part, after)):
            return True
        start = text.find(part, start + 1)
    return False


def _continued(before: str, part: str) -> bool:
    """Whether what stands before a part, read backwards, belongs to its first word or number."""
    if not before or not part[0].isalnum():
        return False
    if before[0].isalnum():
        return True
    if part[0].isdecimal() and (before[0] in "^." or (before[0] in ",:/'" and before[1:].isdecimal())):
        return True
    if part[0].isdecimal() and before[0] in "-+\u2212":
        return not before[1:].isalnum()
    return before[0] in "_'\u2019" and before[1:].isalnum()


def _continues(part: str, after: str) -> bool:
    """Whether what stands after a part belongs to its last word or number."""
    if not after or not part[-1].isalnum():
        return False
    if after[0].isalnum() or after[0] == "#" or (after[0] == "+" and not after[1:].isalnum()):
        return True
    if part[-1].isdecimal() and (after[0] == "^" or (after[0] in ".,:/'" and after[1:].isdecimal())):
        return True
    return (after[0] == "_" and after[1:].isalnum()) or (
        after[0] in "'\u2019" and after[1:].isalnum() and after[1:] != "s"
    )
