"""Whatever a user's workflow or scorer does, it is one question's failure and never the run's."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from treadle.errors import EndpointError, RejectedError
from treadle.evaluation.ask import ask
from treadle.evaluation.compare import compare
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.report import Report
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session
from treadle.testing.virtual_time import run_virtual

TASK = Task("made", tuple(Sample(f"q{i}", f"say w{i}", f"w{i}") for i in range(6)), ExactScorer())


def right(request: Request) -> str:
    return request.messages[-1].content.rsplit(" ", 1)[-1]


async def measured(workflow: Any, model: Callable[[Request], Any] = right, **options: Any) -> Report:
    async with scripted_session(model) as session:
        return await evaluate(session, [workflow], options.pop("task", TASK), concurrency=1, **options)


async def cancels_itself(problem: Problem, run: Run) -> str:
    task = asyncio.ensure_future(asyncio.sleep(10))
    task.cancel()
    await task
    return "never"


async def leaves(problem: Problem, run: Run) -> str:
    sys.exit(0)


async def groups(problem: Problem, run: Run) -> str:
    async def bad() -> None:
        raise ValueError("inside")

    async with asyncio.TaskGroup() as group:
        group.create_task(bad())
    return "never"


@pytest.mark.parametrize(
    ("bad", "words"), [(cancels_itself, "CancelledError"), (leaves, "SystemExit"), (groups, "inside")]
)
async def test_a_question_that_ends_itself_oddly_is_a_crash_and_all_others_are_answered(
    bad: Callable[[Problem, Run], Awaitable[str]], words: str
) -> None:
    async def mixed(problem: Problem, run: Run) -> str:
        return await bad(problem, run) if problem.id == "q0" else (await run.ask(problem)).text

    report = await measured(mixed)
    (row,) = report.results
    assert report.ended_by == "done"
    assert (row["failed"]["crash"], row["scored"]) == (1, 6)
    assert [sample["status"] for sample in row["samples"]] == ["crash", *["ok"] * 5]
    assert words in next(outcome.reason for outcome in report.rows[0].outcomes if outcome.status == "crash")


async def test_a_scorer_that_leaves_is_a_crash_of_its_question() -> None:
    class Leaving(ExactScorer):
        async def score(self, sample: Sample, answer: str, run: Run) -> Score:
            if sample.id == "q0":
                sys.exit(0)
            return await super().score(sample, answer, run)

    (row,) = (await measured("single", task=Task("made", TASK.samples, Leaving()), drop_bad_gold=True)).results
    assert (row["failed"]["crash"], row["score"]) == (1, pytest.approx(5 / 6))


async def test_a_workflow_that_swallows_the_end_of_the_budget_does_not_answer_with_it() -> None:
    async def swallows(problem: Problem, run: Run) -> str:
        try:
            return (await run.ask(problem)).text
        except Exception:
            return "wrong"

    report = await measured(swallows, budget=Budget(calls=2))
    (row,) = report.results
    assert report.ended_by == "budget"
    assert (row["scored"], row["score"]) == (2, 1.0)


async def test_a_workflow_that_disguises_the_end_of_the_budget_did_not_crash() -> None:
    async def disguises(problem: Problem, run: Run) -> str:
        try:
            return (await run.ask(problem)).text
        except Exception as error:
            raise ValueError("something else") from error

    (row,) = (await measured(disguises, budget=Budget(calls=2))).results
    assert (row["scored"], row["failed"]["crash"], row["score"]) == (2, 0, 1.0)


async def test_a_scorer_that_swallows_the_end_of_the_budget_does_not_grade_with_it() -> None:
    class Forgiving(ExactScorer):
        judged: bool = True

        async def score(self, sample: Sample, answer: str, run: Run) -> Score:
            try:
                await run.ask(f"is {answer} right", role="judge")
            except Exception:
                return Score(0.0, answer)
            return await super().score(sample, answer, run)

    report = await measured("single", task=Task("made", TASK.samples, Forgiving()), budget=Budget(calls=5))
    (row,) = report.results
    assert report.ended_by == "budget"
    assert (row["scored"], row["score"]) == (2, 1.0)
    assert [sample["status"] for sample in row["samples"]] == ["ok", "ok", *["unfinished"] * 4]


async def test_a_workflow_that_swallows_the_users_mistake_does_not_hide_it() -> None:
    async def swallows(problem: Problem, run: Run) -> str:
        try:
            return (await run.ask(problem)).text
        except Exception:
            return "wrong"

    def refused(request: Request) -> str:
        raise RejectedError("401", status=401)

    with pytest.raises(EndpointError):
        await measured(swallows, refused)


async def test_a_question_is_infra_only_when_no_repeat_could_be_scored_and_costs_count_what_was_answered() -> None:
    def flaky(request: Request) -> str:
        if right(request) == "w0" or (right(request) == "w1" and request.draw == 0):
            raise RuntimeError("the cellar is flooded")
        return right(request)

    report = await measured("single", flaky, repeat=2)
    (row,) = report.results
    assert (row["scored"], row["failed"]["infra"], row["score"]) == (5, 1, 1.0)
    assert row["samples"][1]["status"] == "ok"
    assert row["per_sample"]["calls"] == 1, "a call that the provider never answered is not a cheap one"
    assert "flooded" in report.message


async def test_an_unpriced_model_costs_null_even_when_nothing_was_paid() -> None:
    def down(request: Request) -> str:
        raise RuntimeError("down")

    (row,) = (await measured("single", down)).results
    assert row["usd"] is None


async def test_a_comparison_that_a_budget_ends_gives_no_verdict_and_says_so() -> None:
    async with scripted_session(right) as session:
        found = await compare(session, "single", "cot", task=TASK, budget=Budget(calls=3))
    assert found.ended_by == "budget"
    assert found.verdict is None
    assert found.document()["difference"] is None
    assert "--budget-calls" in found.message


async def test_a_question_keeps_everything_its_asker_gave_it() -> None:
    seen: list[Any] = []

    async def looks(problem: Problem, run: Run) -> str:
        seen.append((problem.fields, problem.answer_format, problem.same("a", "b")))
        return "x"

    given = Problem("q", fields={"a": 1}, answer_format="Short.", same=lambda a, b: True)
    async with scripted_session(right) as session:
        await ask(session, looks, given)
    assert seen == [({"a": 1}, "Short.", True)]


def test_one_of_two_hundred_that_never_returns_does_not_keep_the_others() -> None:
    async def stuck(problem: Problem, run: Run) -> str:
        if problem.id == "q199":
            await asyncio.Event().wait()
        return (await run.ask(problem)).text

    task = Task("made", tuple(Sample(f"q{i}", f"say w{i}", f"w{i}") for i in range(200)), ExactScorer())
    report = run_virtual(measured(stuck, task=task, caps=Budget(seconds=30.0)))
    (row,) = report.results
    assert report.ended_by == "done"
    assert (row["n"], row["scored"], row["failed"]["timeout"], row["score"]) == (200, 200, 1, 0.995)
    assert "30 s" in next(outcome.reason for outcome in report.rows[0].outcomes if outcome.status == "timeout")
