"""One of a few labels, such as True and False."""

from __future__ import annotations

import re
from dataclasses import dataclass

from treadle.parsing.answers import normalise_text
from treadle.parsing.final_answer import final_answer
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer


@dataclass(frozen=True)
class LabelScorer(AnswerScorer):
    """Right when the label that the reply gives is the target.

    The label is looked for in the marked answer, else in the last line that names one; a line that names two different
    ones gives the last.

    Args:
        labels: All labels of the task.
    """

    labels: tuple[str, ...]
    answer_format: str = ""

    @property
    def name(self) -> str:
        """``label``."""
        return "label"

    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The label in a reply, spelled as the task does, or nothing."""
        text = without_thinking(reply).strip()
        for part in (final_answer(text) or "", *reversed(text.splitlines())):
            found = self._last(part)
            if found:
                return found
        return ""

    def grade(self, sample: Sample, answer: str) -> float:
        """1 or 0."""
        return float(self.equal(answer, str(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """The same label."""
        return normalise_text(a) == normalise_text(b)

    def _last(self, text: str) -> str:
        spelled = {label.casefold(): label for label in self.labels}
        longest_first = sorted(spelled, key=len, reverse=True)
        pattern = rf"(?<!\w)(?:{'|'.join(re.escape(label) for label in longest_first)})(?!\w)"
        found = re.findall(pattern, text.casefold())
        return spelled[found[-1]] if found else ""
