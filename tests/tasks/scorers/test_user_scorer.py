"""A user's own scorer, and all it can get wrong."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy
import pytest

from treadle.errors import RateLimitError, UserError
from treadle.ledger.run import Run
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.custom import scorer

NO_RUN = cast(Run, None)
SAMPLE = Sample("q", "?", "yes")


def returning(value: Any) -> Any:
    @scorer
    def grade(sample: Sample, answer: str) -> Any:
        return value

    return grade


@pytest.mark.parametrize(
    ("verdict", "value"),
    [(True, 1.0), (False, 0.0), (0.25, 0.25), (1, 1.0), (numpy.float32(0.5), 0.5), (numpy.bool_(True), 1.0)],
)
async def test_verdicts_become_scores(verdict: Any, value: float) -> None:
    assert await returning(verdict).score(SAMPLE, " reply ", NO_RUN) == Score(value, "reply")


async def test_a_score_is_kept_as_it_is() -> None:
    score = Score(0.5, "part", "half of it")
    assert await returning(score).score(SAMPLE, "reply", NO_RUN) == score


@pytest.mark.parametrize("verdict", [math.nan, math.inf, -0.1, 1.5, None, "1", [1], Score(math.nan, ""), Score(7, "")])
async def test_what_is_no_verdict_is_a_crash_and_no_silent_zero(verdict: Any) -> None:
    score = await returning(verdict).score(SAMPLE, "reply", NO_RUN)
    assert (score.value, score.failure) == (0.0, "crash")
    assert "the scorer grade returned" in score.reason


async def test_an_exception_is_a_crash_with_its_words() -> None:
    @scorer(name="strict")
    def grade(sample: Sample, answer: str) -> bool:
        raise KeyError("missing")

    score = await grade.score(SAMPLE, "reply", NO_RUN)
    assert score.failure == "crash"
    assert "the scorer strict raised KeyError: 'missing'" in score.reason


async def test_coroutines_will_do_and_infrastructure_stays_what_it_is() -> None:
    @scorer
    async def grade(sample: Sample, answer: str) -> bool:
        if answer == "down":
            raise RateLimitError("slow down")
        return answer == sample.target

    assert (await grade.score(SAMPLE, "<think>no</think>yes", NO_RUN)).value == 1
    with pytest.raises(RateLimitError):
        await grade.score(SAMPLE, "down", NO_RUN)


def test_equality_and_references_can_be_said() -> None:
    @scorer(equal=lambda a, b: len(a) == len(b), reference=False, answer_format="Be brief.")
    def grade(sample: Sample, answer: str) -> bool:
        return True

    assert grade.same("ab", "cd")
    assert not grade.same("a", "bc")
    assert grade.show("yes") == ""
    assert grade.answer_format == "Be brief."
    assert grade(SAMPLE, "x") is True
    assert returning(1).same("Yes.", "yes")
    assert returning(1).show("yes") == "yes"
    assert returning(1).show(["yes"]) == ""


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(UserError, match="a function of a sample and an answer"):
        scorer(cast(Any, 3))
