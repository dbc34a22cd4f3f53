"""A measured table: what is scored, what failed, what was paid, and what it would cost fresh."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from treadle.config_models import ModelSettings, PriceSettings
from treadle.errors import EndpointError, RejectedError, UserError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.measuring import Progress
from treadle.evaluation.report import Report
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.store.base import Store
from treadle.store.open import open_store
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import ModelLike, scripted_session
from treadle.testing.virtual_time import run_virtual


def made_task(count: int = 4, groups: int | None = None) -> Task:
    samples = [
        Sample(f"q{i}", f"say w{i}", f"w{i}", group=None if groups is None else f"g{i % groups}") for i in range(count)
    ]
    return Task("made", tuple(samples), ExactScorer())


def right(request: Request) -> str:
    return request.messages[-1].content.rsplit(" ", 1)[-1]


def number(request: Request) -> int:
    return int(right(request)[1:])


async def measured(
    models: ModelLike, *workflows: Any, task: Task | None = None, store: Store | None = None, **options: Any
) -> Report:
    settings = options.pop("settings", None)
    async with scripted_session({"m": models}, settings=settings, store=store) as session:
        return await evaluate(session, workflows or ("single",), task or made_task(), **options)


def row_of(report: Report) -> dict[str, Any]:
    return report.document()["results"][0]


async def test_provider_failures_are_not_wrong_answers() -> None:
    def reply(request: Request) -> str:
        if number(request) in (1, 2):
            raise RuntimeError("down")
        return right(request) if number(request) == 0 else "wrong"

    report = await measured(reply)
    row = row_of(report)
    assert (row["n"], row["scored"], row["failed"]["infra"]) == (4, 2, 2)
    assert (row["score"], row["score_all"]) == (0.5, 0.25)
    assert report.ended_by == "infra"


async def test_when_every_provider_call_fails_there_is_no_score() -> None:
    def down(request: Request) -> str:
        raise RuntimeError("down")

    row = row_of(await measured(down))
    assert (row["score"], row["ci95"], row["scored"], row["failed"]["infra"]) == (None, None, 0, 4)


async def test_a_truncated_reply_counts_as_nothing_even_where_it_looks_right() -> None:
    def cut(request: Request) -> dict[str, str]:
        return {"text": right(request), "finish_reason": "length" if number(request) == 0 else "stop"}

    row = row_of(await measured(cut))
    assert (row["score"], row["failed"]["truncated"], row["scored"]) == (0.75, 1, 4)
    assert row["samples"][0]["status"] == "truncated"


async def test_an_empty_reply_is_a_format_failure_that_counts() -> None:
    row = row_of(await measured(lambda request: ""))
    assert (row["score"], row["failed"]["format"], row["scored"]) == (0.0, 4, 4)


async def test_a_workflow_that_raises_is_a_crash_with_its_cause() -> None:
    async def broken(problem: Problem, run: Run) -> str:
        await run.ask(problem)
        raise KeyError("missing")

    async with scripted_session(right) as session:
        report = await evaluate(session, [broken], made_task())
        samples = await session.journal.read(lambda store: store.samples(report.run))
    assert row_of(report)["failed"]["crash"] == 4
    assert b"KeyError" in samples[0].trace


async def test_a_workflow_that_returns_no_text_is_told_so() -> None:
    async def number_back(problem: Problem, run: Run) -> Any:
        return 4

    assert row_of(await measured(right, number_back))["failed"]["crash"] == 4


def test_a_question_that_never_ends_is_ended_by_its_own_limit() -> None:
    async def stuck(problem: Problem, run: Run) -> str:
        if problem.id == "q2":
            await asyncio.Event().wait()
        return (await run.ask(problem)).text

    row = row_of(run_virtual(measured(right, stuck, caps=Budget(seconds=5.0))))
    assert (row["n"], row["scored"], row["failed"]["timeout"], row["score"]) == (4, 4, 1, 0.75)


async def test_a_questions_own_cap_is_a_failure_of_that_question() -> None:
    async def greedy(problem: Problem, run: Run) -> str:
        for _ in range(3 if problem.id == "q0" else 1):
            reply = await run.ask(problem)
        return reply.text  # pyright: ignore[reportPossiblyUnboundVariable]

    row = row_of(await measured(right, greedy, caps=Budget(calls=2)))
    assert (row["failed"]["budget"], row["score"]) == (1, 0.75)


async def test_the_runs_budget_ends_it_and_keeps_everything() -> None:
    report = await measured(right, budget=Budget(calls=3), concurrency=1)
    row = row_of(report)
    assert report.ended_by == "budget"
    assert (row["n"], row["scored"], row["calls"]["paid"]) == (4, 3, 3)
    assert [sample["status"] for sample in row["samples"]] == ["ok", "ok", "ok", "unfinished"]
    assert "--budget-calls 4" in report.message


async def test_a_budget_too_small_for_one_call_says_what_would_do() -> None:
    report = await measured(right, budget=Budget(tokens=10))
    assert report.ended_by == "budget"
    assert "lower max_tokens" in report.message
    assert row_of(report)["score"] is None


def test_the_clock_ends_a_run_and_keeps_everything() -> None:
    async def slow(request: Request) -> str:
        await asyncio.sleep(10 * number(request))
        return right(request)

    report = run_virtual(measured(slow, budget=Budget(seconds=15.0)))
    assert report.ended_by == "budget"
    assert [sample["status"] for sample in row_of(report)["samples"]] == ["ok", "ok", "unfinished", "unfinished"]


def test_an_interrupt_ends_a_run_at_once_and_leaves_nothing_running() -> None:
    async def story() -> tuple[Report, int, float]:
        async def slow(request: Request) -> str:
            await asyncio.sleep(100 if number(request) else 0)
            return right(request)

        async with scripted_session(slow) as session:
            before = len(asyncio.all_tasks())
            asyncio.get_running_loop().call_later(1.0, session.interrupt)
            report = await evaluate(session, ["single"], made_task())
            return report, len(asyncio.all_tasks()) - before, asyncio.get_running_loop().time()

    report, left, seconds = run_virtual(story())
    assert (report.ended_by, row_of(report)["scored"]) == ("interrupt", 1)
    assert left == 0
    assert seconds < 2


async def test_dollars_need_prices_and_nothing_is_spent_without() -> None:
    asked: list[Request] = []

    def reply(request: Request) -> str:
        asked.append(request)
        return "x"

    with pytest.raises(UserError, match="price"):
        await measured(reply, budget=Budget(usd=1.0))
    with pytest.raises(UserError, match="price"):
        await measured(reply, caps=Budget(usd=1.0))
    assert not asked


async def test_an_endpoint_that_refuses_at_once_ends_the_run_as_the_users_mistake() -> None:
    def refused(request: Request) -> str:
        raise RejectedError("401: wrong key; check MY_KEY", status=401)

    with pytest.raises(EndpointError, match="MY_KEY"):
        await measured(refused)


async def chatty(problem: Problem, run: Run) -> str:
    """A workflow whose answer depends on draws and chance at every turn."""
    drafts = await run.gather(run.ask(problem) for _ in range(3))
    picked = run.rng.choice(drafts)
    again = await run.child("second").ask(f"{picked.text} then say w{problem.id[1:]}")
    return again.text


def jittery(seed: int) -> ModelLike:
    rng = Random(seed)

    async def reply(request: Request) -> str:
        await asyncio.sleep(rng.random())
        wrong = Random(f"{request.messages[-1].content}/{request.draw}").random() < 0.3
        return "wrong" if wrong else right(request)

    return reply


def comparable(report: Report) -> Any:
    return [
        (row["score"], row["ci95"], row["calls"]["logical"], row["per_sample"]["calls"], row["per_sample"]["tokens"],
         [(sample["id"], sample["score"], sample["answer"]) for sample in row["samples"]])
        for row in report.document()["results"]
    ]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), [(1, 64), (64, 1)])
def test_a_finished_run_replays_bit_for_bit_at_any_concurrency(first: int, second: int) -> None:
    async def story() -> tuple[Report, Report]:
        store = open_store("sqlite:///:memory:", Path())
        task = made_task(30)
        runs = [
            await measured(jittery(seed), chatty, "self-consistency?n=3", task=task, store=store, concurrency=width,
                           repeat=2)
            for seed, width in ((1, first), (2, second))
        ]  # fmt: skip
        store.close()
        return runs[0], runs[1]

    made, replayed = run_virtual(story())
    assert comparable(made) == comparable(replayed)
    rows = replayed.document()["results"]
    assert all(row["calls"]["paid"] == 0 for row in rows), "a replay pays for nothing"
    for before, after in zip(made.document()["results"], rows, strict=True):
        assert after["per_sample"]["seconds"] == pytest.approx(before["per_sample"]["seconds"])


async def test_repeats_and_fresh_families_have_draws_of_their_own() -> None:
    draws: list[int] = []

    def reply(request: Request) -> str:
        draws.append(request.draw)
        return right(request)

    store = open_store("sqlite:///:memory:", Path())
    for fresh in (0, 0, 1):
        await measured(reply, "self-consistency?n=2", task=made_task(1), repeat=3, fresh=fresh, store=store)
    store.close()
    assert draws[:2] == [0, 1], "the first repeat draws from 0"
    assert len(draws) == len(set(draws)) == 2 * 3 * 2, "the same family replays, another one is drawn anew"


async def test_shared_calls_are_paid_once_and_cost_fresh_in_every_row() -> None:
    price = {"m": ModelSettings("m", price=PriceSettings(1.0, 1.0))}

    def reply(request: Request) -> dict[str, Any]:
        return {"text": f"Answer: {request.messages[-1].content.split('say ')[1].split()[0]}",
                "usage": {"input": 10, "output": 10}}  # fmt: skip

    report = await measured(reply, "cot", "self-consistency?n=5", settings=price)
    cot, votes = report.document()["results"]
    assert votes["calls"] == {"logical": 20, "paid": 16, "cached": 4, "retried": 0}
    assert cot["per_sample"]["usd"] == pytest.approx(20e-6)
    assert votes["per_sample"]["usd"] == pytest.approx(100e-6), "as if nobody had paid for the first draft"
    assert votes["usd"] == pytest.approx(16 * 20e-6)


class Judging(ExactScorer):
    judged: bool = True

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        await run.ask(f"grade {answer} say w0", role="judge")
        return await super().score(sample, answer, run)


async def test_the_scorers_calls_are_paid_but_not_part_of_the_structures_cost() -> None:
    task = Task("made", made_task().samples, Judging())
    row = row_of(await measured(right, task=task))
    assert row["calls"]["logical"] == 8
    assert row["per_sample"]["calls"] == 1


async def test_unpriced_is_null_and_never_zero() -> None:
    row = row_of(await measured(right))
    assert row["usd"] is None
    assert row["per_sample"]["usd"] is None
    assert row["samples"][0]["usd"] is None


async def test_intervals_are_clustered_by_group_and_noise_needs_repeats() -> None:
    def coin(request: Request) -> str:
        return right(request) if (number(request) + request.draw) % 3 else "wrong"

    alone = await measured(coin, task=made_task(40))
    grouped = await measured(coin, task=made_task(40, groups=5))
    assert row_of(alone)["score"] == row_of(grouped)["score"]
    assert row_of(alone)["ci95"] != row_of(grouped)["ci95"]
    assert alone.document()["noise"] is None
    repeated = await measured(coin, task=made_task(40), repeat=3)
    noise = repeated.document()["noise"]
    assert noise["repeats"] == 3
    assert noise["points"] > 0
    assert len(row_of(repeated)["repeats"]) == 3


async def test_a_row_that_was_cut_off_says_nothing_of_noise() -> None:
    def coin(request: Request) -> str:
        return right(request) if (number(request) + request.draw) % 3 else "wrong"

    report = await measured(coin, repeat=2, budget=Budget(calls=6), concurrency=1)
    assert report.ended_by == "budget"
    assert report.document()["noise"] is None


async def test_progress_ends_at_the_total() -> None:
    seen: list[Progress] = []
    await measured(right, watch=seen.append, repeat=2)
    assert (seen[-1].done, seen[-1].total) == (8, 8)


@pytest.mark.parametrize("options", [{"repeat": 0}, {"fresh": -1}])
async def test_impossible_counts_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        await measured(right, **options)
