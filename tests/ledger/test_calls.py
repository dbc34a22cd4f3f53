"""One logical call: remembered, shared, retried, ended, recorded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from treadle.config import ModelSettings
from treadle.errors import (
    CallTimeoutError,
    EndpointError,
    FormatError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RejectedError,
    SampleFailure,
    ServerError,
    TruncatedError,
    UnreachableError,
)
from treadle.ledger.run import Run
from treadle.models.base import Completion, Message, Request
from treadle.store.open import open_store
from treadle.testing.sessions import new_scope, recording_run, scripted_session
from treadle.testing.virtual_time import run_virtual


class Script:
    """Replies or raises what it is told, and counts how often it was asked."""

    def __init__(self, *steps: Any, delay_s: float = 0.0) -> None:
        self.steps = list(steps)
        self.asked: list[float] = []
        self.delay_s = delay_s

    async def __call__(self, request: Request) -> Any:
        self.asked.append(asyncio.get_running_loop().time())
        step = self.steps.pop(0) if self.steps else "ok"
        await asyncio.sleep(self.delay_s)
        if isinstance(step, Exception):
            raise step
        return step


async def test_the_same_ask_is_paid_once_and_stays_paid_in_another_session(tmp_path: Path) -> None:
    script = Script()
    for _ in range(2):
        store = open_store(f"sqlite:///{tmp_path}/t.db", tmp_path)
        async with scripted_session({"m": script}, store=store) as session:
            run = Run(new_scope(await session.record("test")))
            await run.ask("q", draw=0)
        store.close()
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"temperature": 0}, {"temperature": 1}, False),
        ({}, {"temperature": 0}, False),
        ({"seed": 1}, {"seed": 2}, False),
        ({"max_tokens": 16}, {"max_tokens": 4000}, False),
        ({"stop": ["a"]}, {"stop": ["b"]}, False),
        ({"temperature": 1}, {"temperature": 1.0}, True),
        ({}, {"max_tokens": 4096}, True),
        ({"temperature": None}, {}, True),
        ({"temperature": 1, "seed": 2}, {"seed": 2, "temperature": 1}, True),
    ],
)
async def test_every_setting_that_changes_the_reply_is_in_the_key(
    first: dict[str, Any], second: dict[str, Any], same: bool
) -> None:
    script = Script()
    async with recording_run(script) as (run, _):
        await run.ask("q", draw=0, **first)
        await run.ask("q", draw=0, **second)
    assert len(script.asked) == (1 if same else 2)


def test_identical_calls_in_flight_are_made_once() -> None:
    script = Script(delay_s=1.0)

    async def story() -> tuple[list[Completion], int, int]:
        async with recording_run(script) as (run, recording):
            replies = await run.gather(run.ask("q", draw=0) for _ in range(5))
            return replies, recording.tally.paid, recording.tally.cached

    replies, paid, cached = run_virtual(story())
    assert (len(script.asked), paid, cached) == (1, 1, 4)
    assert sum(not reply.cached for reply in replies) == 1


def test_a_shared_call_survives_the_one_who_asked_first() -> None:
    script = Script(delay_s=1.0)

    async def story() -> str:
        async with recording_run(script) as (run, recording):
            first = asyncio.ensure_future(run.ask("q", draw=0))
            await asyncio.sleep(0.1)
            second = asyncio.ensure_future(Run(new_scope(recording)).ask("q", draw=0))
            await asyncio.sleep(0.1)
            first.cancel()
            return (await second).text

    assert run_virtual(story()) == "ok"
    assert len(script.asked) == 1


def test_a_call_that_nobody_wants_any_more_is_ended() -> None:
    ended: list[bool] = []

    async def reply(request: Request) -> str:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append(True)
        return "never"

    async def story() -> float:
        async with recording_run(reply) as (run, _):
            ask = asyncio.ensure_future(run.ask("q"))
            await asyncio.sleep(1)
            ask.cancel()
            await asyncio.gather(ask, return_exceptions=True)
            await asyncio.sleep(0)
        return asyncio.get_running_loop().time()

    assert run_virtual(story()) < 2
    assert ended == [True]


def test_what_can_help_is_tried_again_and_the_providers_word_counts() -> None:
    script = Script(RateLimitError("slow down", retry_after=7.0), ServerError("oops"), "fine")

    async def story() -> tuple[str, int]:
        async with recording_run(script) as (run, recording):
            return (await run.ask("q")).text, recording.tally.retried

    text, retried = run_virtual(story())
    assert (text, retried) == ("fine", 2)
    assert script.asked[1] - script.asked[0] >= 7.0


@pytest.mark.parametrize(
    "error",
    [
        RejectedError("bad request", status=400),
        RejectedError("no rights", status=403),
        QuotaError("no credit left"),
        ProviderError("some other failure"),
    ],
)
def test_what_cannot_help_is_tried_once(error: ProviderError) -> None:
    script = Script("warm", error)

    async def story() -> None:
        async with recording_run(script) as (run, _):
            await run.ask("warm up")
            with pytest.raises(type(error)):
                await run.ask("q")

    run_virtual(story())
    assert len(script.asked) == 2


def test_an_account_without_credit_is_not_asked_again() -> None:
    script = Script("warm", QuotaError("no credit left"))

    async def story() -> None:
        async with recording_run(script) as (run, _):
            await run.ask("warm up")
            for _ in range(3):
                with pytest.raises(QuotaError):
                    await run.ask("q")

    run_virtual(story())
    assert len(script.asked) == 2


@pytest.mark.parametrize(
    "error",
    [RejectedError("wrong key", status=401), RejectedError("a web page", status=200), UnreachableError("x")],
)
def test_an_endpoint_that_never_answered_is_the_users_to_mend(error: ProviderError) -> None:
    async def story() -> None:
        async with recording_run(Script(*[error] * 9)) as (run, _):
            with pytest.raises(EndpointError):
                await run.ask("q")

    run_virtual(story())


def test_a_hung_call_ends_at_its_timeout_and_others_finish() -> None:
    settings = {"m": ModelSettings("m", timeout_s=5.0, retries=0)}

    async def reply(request: Request) -> str:
        await asyncio.sleep(1e9 if request.messages[-1].content == "hang" else 1)
        return "ok"

    async def story() -> tuple[list[Completion | SampleFailure], float]:
        async with recording_run(reply, settings=settings) as (run, _):
            results = await run.settle([run.ask("hang"), run.ask("fine")])
            return results, asyncio.get_running_loop().time()

    (hung, fine), seconds = run_virtual(story())
    assert isinstance(hung, CallTimeoutError)
    assert isinstance(fine, Completion)
    assert seconds == pytest.approx(5.0)


def test_a_failing_branch_neither_loses_the_others_nor_leaves_tasks_behind() -> None:
    async def reply(request: Request) -> str:
        if request.messages[-1].content == "bad":
            raise RuntimeError("down")
        await asyncio.sleep(3)
        return "ok"

    async def story() -> tuple[int, int]:
        async with recording_run(reply) as (run, recording):
            before = len(asyncio.all_tasks())
            with pytest.raises(ProviderError):
                await run.gather([run.ask("bad"), run.ask("good"), run.ask("better")])
            return recording.tally.paid, len(asyncio.all_tasks()) - before

    assert run_virtual(story()) == (2, 0)


def test_requests_a_minute_are_kept() -> None:
    settings = {"m": ModelSettings("m", requests_per_minute=60, max_concurrency=100)}
    script = Script()

    async def story() -> None:
        async with recording_run(script, settings=settings) as (run, _):
            await run.gather(run.ask("q", draw=i) for i in range(20))

    run_virtual(story())
    assert script.asked[-1] - script.asked[0] == pytest.approx(19.0, abs=0.5)


def test_no_more_calls_in_flight_than_allowed() -> None:
    settings = {"m": ModelSettings("m", max_concurrency=3)}
    flying, most = 0, 0

    async def reply(request: Request) -> str:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(1)
        flying -= 1
        return "ok"

    async def story() -> None:
        async with recording_run(reply, settings=settings) as (run, _):
            await run.gather(run.ask("q", draw=i) for i in range(10))

    run_virtual(story())
    assert most == 3


async def test_a_reply_cut_by_its_limit_is_truncated_and_no_answer() -> None:
    def cut(request: Request) -> dict[str, str]:
        return {"text": "The total is 12", "finish_reason": "length"}

    async with recording_run(cut) as (run, _):
        with pytest.raises(TruncatedError) as raised:
            await run.ask("q")
        assert raised.value.text == "The total is 12"
        assert (await run.ask("q", draw=0, keep_truncated=True)).finish_reason == "length"


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_a_reply_that_breaks_its_schema_gets_one_repair_ask() -> None:
    script = Script("no json", '{"n": 4}')
    async with recording_run(script) as (run, _):
        assert (await run.ask("q", schema=SCHEMA)).parsed == {"n": 4}
    assert len(script.asked) == 2
    async with recording_run(Script('{"n": "x"}', "{}")) as (run, _):
        with pytest.raises(FormatError, match="required"):
            await run.ask("q", schema=SCHEMA)


async def test_lone_surrogates_nul_and_braces_come_back_as_they_were() -> None:
    text = "a\ud800b\x00{x} \u2028"
    script = Script(text)
    async with recording_run(script) as (run, recording):
        await run.ask([Message("user", text)], draw=0)
        recording.caller.forget()
        assert (await run.ask([Message("user", text)], draw=0)).text == text
    assert len(script.asked) == 1
