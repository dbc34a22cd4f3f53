"""One of a few labels, such as True and False."""

from __future__ import annotations

import re
from dataclasses import dataclass

from treadle.parsing.answers import normalise_text
from treadle.parsing.final_answer import statements
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample
from treadle.tasks.scorers.answer import AnswerScorer


@dataclass(frozen=True)
class LabelScorer(AnswerScorer):
    """Right when the label that the reply gives is the target.

    The label is looked for in the marked answer and what follows it, else in the last line that names one; a line that
    names two different ones gives the last. What is denied (``not True``) or joined (``True or False``) is not given.

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
        marked = statements(text)
        lines = (text[marked[-1].start :] if marked else text).splitlines()
        for part in (marked[-1].text if marked else "", *reversed(lines)):
            found = self._last(part)
            if found is not None:
                return found
        return ""

    def grade(self, sample: Sample, answer: str) -> float:
        """1 or 0."""
        return float(self.equal(answer, str(sample.target)))

    def equal(self, a: str, b: str) -> bool:
        """The same label."""
        return normalise_text(a) == normalise_text(b)

    def _last(self, text: str) -> str | None:
        """The label that a line gives: empty where it only names some, ``None`` where it names none."""
        spelled = {label.casefold(): label for label in self.labels}
        longest_first = sorted(spelled, key=len, reverse=True)
        label = rf"(?<!\w)(?:{'|'.join(re.escape(label) for label in longest_first)})(?!\w)"
        plain = re.sub(r"[*_`\"“”$]+", "", text.casefold())
        if re.search(label, plain) is None:
            return None
        denied = rf"(?:\bnot|n['’]t|\bnever|\bneither|\bnor)\s+\(?\s*{label}"
        joined = rf"{label}\s*(?:(?:\bor|\band|\bnor|/)\s*(?:not\s+)?{label}\s*)+"
        given = re.findall(label, re.sub(denied, " ", re.sub(joined, " ", plain)))
        return spelled[given[-1]] if given else ""
