"""Mathematical equality, decided by math-verify in a child process where spelling and arithmetic do not decide."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treadle.ledger.run import Run
from treadle.parsing.boxed import boxed
from treadle.parsing.final_answer import final_answer
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.answer import NO_ANSWER
from treadle.tasks.scorers.latex import LONGEST, compare, plain_latex
from treadle.tasks.scorers.worker import SECONDS, Reply, worker_pool

SAME_SECONDS = 1.0
"""The limit of a comparison for a vote, during which nothing else goes on."""
REMEMBERED = 50_000

_BOX = re.compile(r"\\f?boxed\b|\\fbox\b")
_EMPTY = re.compile(r"\\(?:f?boxed|fbox)\s*\{\s*\}")
_SPAN = re.compile(r"\$([^$]+)\$|\\\((.+?)\\\)")

Pair = tuple[str, str]


@dataclass(frozen=True)
class MathScorer:
    r"""Equality of mathematical answers.

    The answer is what the last ``\boxed`` holds (a box that is never closed is no answer), else what is marked as the
    final answer, else a reply that is nothing but an answer, else the last formula of the last line. What needs
    algebra goes to a child process; a comparison that takes longer than five seconds finds the answers different.
    """

    answer_format: str = r"Put the final answer in \boxed{}."
    _known: dict[tuple[str, str, float], bool] = field(
        default_factory=dict[tuple[str, str, float], bool], repr=False, compare=False
    )

    @property
    def judged(self) -> bool:
        """Grading asks no model."""
        return False

    @property
    def name(self) -> str:
        """``math``."""
        return "math"

    def read(self, reply: str) -> str:
        """The answer in a reply, or nothing."""
        text = without_thinking(reply).strip()
        if _BOX.search(text):
            return (boxed(text) or "").strip()
        marked = final_answer(text)
        if marked:
            return marked.strip()
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            return ""
        if len(lines) == 1 and not _is_prose(lines[0]):
            return lines[0]
        spans = _SPAN.findall(lines[-1][-LONGEST:])
        return next((part for part in spans[-1] if part), "").strip() if spans else ""

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade one answer."""
        found = self.read(answer)
        if not found:
            # A reference may say that there is nothing: an empty box, and only that, is equal to it.
            if not str(sample.target).strip() and _EMPTY.search(without_thinking(answer)):
                return Score(1.0, "")
            return Score(0.0, "", NO_ANSWER, "format")
        a, b = plain_latex(found), plain_latex(str(sample.target))
        slow = ""
        while True:
            equal, missing = self._compare(a, b, SECONDS)
            if not missing:
                return Score(float(equal), found, "" if equal else slow)
            for pair in missing:
                reply = await worker_pool("math").ask_async(_job(pair), SECONDS)
                slow = self._learn(pair, reply, SECONDS) or slow

    def same(self, a: str, b: str) -> bool:
        """Whether two replies give the same answer; a reply without one is not even the same as itself."""
        first, second = self.read(a), self.read(b)
        if not first or not second:
            return False
        first, second = plain_latex(first), plain_latex(second)
        while True:
            equal, missing = self._compare(first, second, SAME_SECONDS)
            if not missing:
                return equal
            for pair in missing:
                self._learn(pair, worker_pool("math").ask(_job(pair), SAME_SECONDS), SAME_SECONDS)

    def show(self, target: Any) -> str:
        """A target in a box."""
        return rf"\boxed{{{target}}}"

    def target_fault(self, target: Any) -> str:
        """What is wrong with a target, to follow its name."""
        return "" if isinstance(target, str | int | float) else "must be LaTeX text or a number"

    def _compare(self, a: str, b: str, seconds: float) -> tuple[bool, list[Pair]]:
        missing: list[Pair] = []

        def ask(x: str, y: str) -> bool:
            pair = (min(x, y), max(x, y))
            known = self._known.get((*pair, 0.0), self._known.get((*pair, seconds)))
            if known is None:
                missing.append(pair)
            return known or False

        equal = compare(a, b, ask)
        return equal, [] if equal else missing

    def _learn(self, pair: Pair, reply: Reply, seconds: float) -> str:
        """Remember a verdict for good, or under its limit where it only ran out of time."""
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[*pair, seconds if reply.failure == "timeout" else 0.0] = reply.value is True
        return f"the comparison {reply.reason}" if reply.failure in {"timeout", "death"} else ""


def _job(pair: Pair) -> Mapping[str, str]:
    return {"a": pair[0], "b": pair[1]}


def _is_prose(line: str) -> bool:
    words = re.findall(r"(?<![\\A-Za-z])[A-Za-z]{2,}", re.sub(r"\\text\s*\{[^{}]*\}|\$[^$]*\$", "", line))
    return len(words) > 3
