"""What scorers share that read one answer from a reply and compare it with a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from treadle.ledger.run import Run
from treadle.parsing.answers import normalise_text
from treadle.parsing.final_answer import final_answer
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample, Score

NO_ANSWER = "no answer was found in the reply"


@runtime_checkable
class TargetReader(Protocol):
    """A scorer that says which targets it can grade."""

    def target_fault(self, target: Any) -> str:
        """What is wrong with a target, to follow its name; empty when it can be graded."""
        ...


class AnswerScorer(ABC):
    """Reads an answer from a reply, and compares it with the target or with another answer."""

    answer_format: str = ""
    judged: bool = False
    """Whether grading asks a model: then targets are not checked against themselves, and answers have no equality."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in reports, with the options that change a grade."""

    @abstractmethod
    def read(self, reply: str, sample: Sample | None = None) -> str:
        """The answer in a reply, or nothing; reading an answer gives that answer again."""

    @abstractmethod
    def grade(self, sample: Sample, answer: str) -> float:
        """How right an answer is, from 0 to 1."""

    @abstractmethod
    def equal(self, a: str, b: str) -> bool:
        """Whether two answers are one; reflexive and symmetric."""

    def target_fault(self, target: Any) -> str:
        """What is wrong with a target, to follow its name; empty when it can be graded."""
        texts = alternatives(target)
        if all(text.strip() for text in texts) and texts:
            return ""
        return "is empty" if texts else "must be text, a number, or a list of such alternatives"

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade one answer."""
        found = self.read(answer, sample)
        if not found:
            return Score(0.0, "", NO_ANSWER, "format")
        return Score(self.grade(sample, found), found)

    def same(self, a: str, b: str) -> bool:
        """Whether two replies give the same answer; a reply without one is not even the same as itself."""
        first, second = _read(self, a), _read(self, b)
        return bool(first and second) and (first == second or self.equal(first, second))

    def show(self, target: Any) -> str:
        """A target as an answer: its first alternative."""
        return next(iter(alternatives(target)), "")


@lru_cache(maxsize=4096)
def _read(scorer: AnswerScorer, reply: str) -> str:
    """A vote compares every reply with every other: each is read once."""
    return scorer.read(reply)


def alternatives(target: Any) -> tuple[str, ...]:
    """A target as texts, each of which is right; empty when it is not made of texts and numbers."""
    values: list[Any] = target if isinstance(target, list) else [target]  # pyright: ignore[reportUnknownVariableType]
    if not all(isinstance(value, str | int | float) for value in values):
        return ()
    return tuple(str(value) for value in values)


def same_text(a: str, b: str) -> bool:
    """Whether two replies are the same text without their thinking; an empty one is not even the same as itself."""
    first, second = without_thinking(a).strip(), without_thinking(b).strip()
    return bool(first and second) and (first == second or normalise_text(first) == normalise_text(second))


def marked_answer(reply: str) -> str:
    """The final answer that a reply marks as such, else all of it without its thinking."""
    text = without_thinking(reply).strip()
    return (final_answer(text) or text).strip()
