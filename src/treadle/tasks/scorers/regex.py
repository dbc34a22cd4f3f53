"""A regular expression, run where it can be killed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from treadle.errors import UserError
from treadle.ledger.run import Run
from treadle.parsing.answers import normalise_text
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.answer import NO_ANSWER, alternatives, marked_answer, same_text
from treadle.tasks.scorers.worker import SECONDS, Reply, worker_pool

LONGEST = 100_000
"""How much of a reply, counted from its end, is searched."""
SAME_SECONDS = 1.0


@dataclass(frozen=True)
class RegexScorer:
    """Without a pattern the target is one, and right is a reply in which it is found.

    With a pattern its last match in the reply (its first group that took part, else all of it) is the answer, and
    right is one equal to the target as a text. ``^`` and ``$`` stand for the ends of lines. A search that takes longer
    than five seconds finds nothing.

    Args:
        pattern: A regular expression, or nothing.

    Raises:
        UserError: The pattern is no regular expression.
    """

    pattern: str = ""
    answer_format: str = ""
    judged: bool = False

    def __post_init__(self) -> None:
        fault = _pattern_fault(self.pattern)
        if fault:
            raise UserError(f"the option pattern {fault}")

    @property
    def name(self) -> str:
        """``regex``, with the pattern where there is one."""
        return f"regex?pattern={self.pattern}" if self.pattern else "regex"

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade one answer."""
        text = _searched(answer)
        if not text:
            return Score(0.0, "", NO_ANSWER, "format")
        pattern = self.pattern or str(sample.target)
        reply = await worker_pool("regex").ask_async({"pattern": pattern, "text": text}, SECONDS)
        if reply.failure:
            return Score(0.0, "", f"the search for the pattern {reply.reason}")
        if not self.pattern:
            return Score(0.0 if reply.value is None else 1.0, reply.value or marked_answer(answer))
        if not reply.value:
            return Score(0.0, "", NO_ANSWER, "format")
        wanted = {normalise_text(text) for text in alternatives(sample.target)}
        return Score(float(normalise_text(reply.value) in wanted), reply.value)

    def same(self, a: str, b: str) -> bool:
        """The pattern finds the same text in both; without a pattern, the same marked answer.

        A reply in which it finds nothing is not even the same as itself.
        """
        return same_text(self._read(a), self._read(b))

    def show(self, target: Any) -> str:
        """Nothing: neither a pattern nor what one extracts is a reply."""
        return ""

    def target_fault(self, target: Any) -> str:
        """What is wrong with a target, to follow its name."""
        if self.pattern:
            return "" if alternatives(target) else "must be text, a number, or a list of such alternatives"
        return _pattern_fault(target) if isinstance(target, str) and target else "must be a regular expression"

    def _read(self, reply: str) -> str:
        if not self.pattern:
            return marked_answer(reply)
        job = {"pattern": self.pattern, "text": _searched(reply)}
        found: Reply = worker_pool("regex").ask(job, SAME_SECONDS)
        return found.value or ""


def _searched(reply: str) -> str:
    return without_thinking(reply).strip()[-LONGEST:]


def _pattern_fault(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no regular expression: {error}"
    return ""
