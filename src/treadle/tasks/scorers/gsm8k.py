"""Numbers of grade-school word problems, read leniently or exactly as the authors' script does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treadle.parsing.numbers import gsm8k_official
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer
from treadle.tasks.scorers.numeric import NumericScorer


@dataclass(frozen=True)
class Gsm8kScorer(NumericScorer):
    """The number however it is written: behind ``####``, in a box, marked as the answer, or the last one."""

    answer_format: str = "End with a line 'Answer: <number>'."

    @property
    def name(self) -> str:
        """``gsm8k``."""
        return "gsm8k"


@dataclass(frozen=True)
class OfficialGsm8kScorer(AnswerScorer):
    """What stands behind the first ``#### `` as digits, dots and commas, compared as text without its commas.

    For parity with published figures (openai/grade-school-math, ``dataset.py``): ``#### 45.`` is not 45 and
    ``#### $45`` is no answer.
    """

    answer_format: str = "End with a line '#### <number>'."

    @property
    def name(self) -> str:
        """``gsm8k?grader=official``."""
        return "gsm8k?grader=official"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """What the official pattern finds, or nothing."""
        return gsm8k_official(reply) or ""

    def grade(self, sample: Sample, answer: str) -> float:
        """1 or 0."""
        return float(answer == gsm8k_official(self.show(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """The same text."""
        return a == b

    def show(self, target: Any) -> str:
        """A target behind the mark."""
        return f"#### {target}"
