"""A user's own scorer: a function of a sample and an answer."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, overload

from treadle.errors import SampleFailure, UserError
from treadle.ledger.run import Run
from treadle.parsing.thinking import without_thinking
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.answer import same_text

Verdict = bool | float | Score
Grade = Callable[[Sample, str], Verdict | Awaitable[Verdict]]


@dataclass(frozen=True, slots=True)
class UserScorer:
    """A scorer made of a function of its user.

    Args:
        grade: Called with the sample and the reply without its thinking; returns true or false, a number from 0 to 1,
            or a `Score`. It may be a coroutine function. What it raises, and a number that is none, count as ``crash``.
        name: The name in reports.
        answer_format: One sentence for the model on how to write its answer.
        reference: Whether targets are answers, so that each must be graded right before anything is spent.
        equal: When two replies give the same answer; their text without case and outer punctuation when not given.
    """

    grade: Grade
    name: str
    answer_format: str = ""
    reference: bool = True
    equal: Callable[[str, str], bool] | None = None
    judged: bool = False

    def __call__(self, sample: Sample, answer: str) -> Verdict | Awaitable[Verdict]:
        """The function itself."""
        return self.grade(sample, answer)

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade one answer."""
        text = without_thinking(answer).strip()
        try:
            verdict = self.grade(sample, text)
            if inspect.isawaitable(verdict):
                verdict = await verdict
        except SampleFailure:
            raise
        except Exception as error:
            return _crash(text, f"the scorer {self.name} raised {type(error).__name__}: {error}")
        if isinstance(verdict, Score):
            return verdict if _fraction(verdict.value) is not None else _crash(text, self._refusal(verdict.value))
        value = _fraction(verdict)
        return _crash(text, self._refusal(verdict)) if value is None else Score(value, text)

    def same(self, a: str, b: str) -> bool:
        """Whether two replies give the same answer; an empty one is not even the same as itself."""
        if self.equal is None:
            return same_text(a, b)
        first, second = without_thinking(a).strip(), without_thinking(b).strip()
        if not first or not second:
            return False
        return first == second or self.equal(first, second) or self.equal(second, first)

    def show(self, target: Any) -> str:
        """A target as an answer, where targets are answers: texts and numbers."""
        return str(target) if self.reference and isinstance(target, str | int | float) else ""

    def _refusal(self, verdict: object) -> str:
        return f"the scorer {self.name} returned {verdict!r:.80}, which is not true, false or a number from 0 to 1"


@overload
def scorer(grade: Grade, /) -> UserScorer: ...


@overload
def scorer(
    *,
    name: str = "",
    answer_format: str = "",
    reference: bool = True,
    equal: Callable[[str, str], bool] | None = None,
) -> Callable[[Grade], UserScorer]: ...


def scorer(
    grade: Grade | None = None,
    /,
    *,
    name: str = "",
    answer_format: str = "",
    reference: bool = True,
    equal: Callable[[str, str], bool] | None = None,
) -> UserScorer | Callable[[Grade], UserScorer]:
    """Make a scorer of a function ``f(sample, answer) -> bool | float | Score``, plain or async.

    Args:
        grade: The function, when used as ``@scorer`` without brackets.
        name: The name in reports; the function's own when not given.
        answer_format: One sentence for the model on how to write its answer.
        reference: Whether targets are answers; then each must be graded right before anything is spent.
        equal: When two replies give the same answer, for votes.
    """

    def wrap(function: Grade) -> UserScorer:
        if not callable(function):
            raise UserError(f"a scorer must be a function of a sample and an answer, not {function!r:.80}")
        own = getattr(function, "__name__", type(function).__name__)
        return UserScorer(function, name or own, answer_format, reference, equal)

    return wrap if grade is None else wrap(grade)


def _fraction(value: Any) -> float | None:
    # Numbers of numpy are neither bool nor float; their own method turns them into one.
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, int | float) and math.isfinite(plain) and 0 <= plain <= 1:
        return float(plain)
    return None


def _crash(answer: str, reason: str) -> Score:
    return Score(0.0, answer, reason, "crash")
