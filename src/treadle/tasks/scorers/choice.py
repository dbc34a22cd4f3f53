"""Multiple choice: the letter of an option."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from treadle.errors import UserError
from treadle.parsing.choices import choice, option_letters
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer

_LETTER = re.compile(r"\s*\(?([A-Za-z])[).]?\s*")


@dataclass(frozen=True)
class ChoiceScorer(AnswerScorer):
    """Right when the reply chooses the target's letter.

    The letters that can be chosen are ``letters``, else those of the question's options, else ``common``.

    Args:
        letters: The letters of every question, such as ``ABCD``.
        answer_format: One sentence for the model.
        common: The letters to read where no question is at hand, in votes.

    Raises:
        UserError: ``letters`` holds something else than letters, or one twice.
    """

    letters: str = ""
    answer_format: str = ""
    common: str = string.ascii_uppercase

    def __post_init__(self) -> None:
        if self.letters and not (self.letters.isalpha() and len(set(self.letters)) == len(self.letters)):
            raise UserError(f"the option letters must be different letters such as ABCD, not {self.letters!r}")

    @property
    def name(self) -> str:
        """``choice``."""
        return "choice"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The letter that a reply chooses, or nothing."""
        listed = option_letters(sample.input) if sample is not None and not self.letters else ""
        return choice(reply, self.letters or listed or self.common) or ""

    def of(self, samples: Iterable[Sample]) -> ChoiceScorer:
        """The scorer that reads, where no question is at hand, the letters that these samples' questions list."""
        listed = sorted({letter for sample in samples for letter in option_letters(sample.input)})
        return replace(self, common="".join(listed)) if listed else self

    def grade(self, sample: Sample, answer: str) -> float:
        """1 or 0."""
        return float(self.equal(answer, self.show(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """The same letter."""
        return _letter(a) == _letter(b) != ""

    def show(self, target: Any) -> str:
        """The letter in brackets."""
        return f"({_letter(str(target))})"

    def target_fault(self, target: Any) -> str:
        """What is wrong with a target, to follow its name."""
        return "" if isinstance(target, str) and _letter(target) else "must be the letter of an option, such as (B)"


def _letter(text: str) -> str:
    match = _LETTER.fullmatch(text)
    return match.group(1).upper() if match else ""
