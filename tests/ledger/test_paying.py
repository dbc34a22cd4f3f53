"""Who pays for what, when calls are cut off, shared, made twice, or end in another's budget."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from treadle.config import Settings
from treadle.config_models import ModelSettings, PriceSettings
from treadle.errors import RunLimitError, SampleFailure, ServerError, UserError
from treadle.ledger.budget import Budget
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.models.base import Request
from treadle.models.scripted import ScriptedModel
from treadle.store.open import open_store
from treadle.testing.sessions import new_scope, recording_run, scripted_session
from treadle.testing.virtual_time import run_virtual


def echo(request: Request) -> str:
    return f"{request.messages[-1].content}#{request.draw}"


def test_calls_that_hang_are_counted_as_if_billed_and_never_exceed_the_budget() -> None:
    sent: list[int] = []

    async def hang(request: Request) -> str:
        sent.append(request.draw)
        await asyncio.sleep(1e9)
        return "never"

    async def story() -> tuple[int, int]:
        settings = {"m": ModelSettings("m", timeout_s=5.0, retries=5)}
        async with recording_run(hang, budget=Budget(calls=2), settings=settings) as (run, recording):
            with pytest.raises(RunLimitError):
                await run.ask("q")
            return recording.account.spent.calls, recording.tally.estimated

    assert run_virtual(story()) == (2, 2)
    assert len(sent) == 2


def test_attempts_of_calls_that_fail_in_the_end_are_counted_too() -> None:
    def overloaded(request: Request) -> str:
        raise ServerError("busy", status=503)

    async def story() -> tuple[int, int]:
        settings = {"m": ModelSettings("m", retries=2)}
        async with recording_run(overloaded, settings=settings) as (run, recording):
            with pytest.raises(ServerError):
                await run.ask("q")
            return recording.tally.retried, recording.tally.paid

    assert run_virtual(story()) == (2, 0)


def test_a_call_that_is_cut_off_counts_at_its_bound() -> None:
    async def story() -> tuple[int, int, int]:
        async with recording_run(lambda request: {"text": "x", "delay_s": 100}) as (run, recording):
            ask = asyncio.ensure_future(run.ask("q", max_tokens=7))
            await asyncio.sleep(1)
            ask.cancel()
            await asyncio.gather(ask, return_exceptions=True)
            await asyncio.sleep(0)
            return recording.account.spent.calls, recording.tally.paid, recording.tally.usage.output

    assert run_virtual(story()) == (1, 1, 7)


def test_a_call_is_counted_where_it_is_paid_even_if_only_another_lives_to_see_it() -> None:
    async def story() -> tuple[int, int]:
        async with recording_run(lambda request: {"text": "x", "delay_s": 5}) as (run, recording):
            first = asyncio.ensure_future(run.ask("q", draw=0))
            await asyncio.sleep(1)
            second = asyncio.ensure_future(Run(new_scope(recording)).ask("q", draw=0))
            await asyncio.sleep(1)
            first.cancel()
            assert (await second).cached
            return recording.account.spent.calls, recording.tally.paid

    assert run_virtual(story()) == (1, 1)


def test_anothers_budget_does_not_end_a_run_that_has_none() -> None:
    async def story() -> tuple[list[Any], list[Any]]:
        async with scripted_session(lambda request: {"text": "x", "delay_s": 1}) as session:
            poor = Run(new_scope(await session.record("test", budget=Budget(calls=1))))
            rich = Run(new_scope(await session.record("test")))
            both = asyncio.gather(
                asyncio.gather(*(poor.ask("q", draw=i) for i in range(4)), return_exceptions=True),
                asyncio.gather(*(rich.ask("q", draw=i) for i in range(4)), return_exceptions=True),
            )
            return await both  # pyright: ignore[reportReturnType]

    poor, rich = run_virtual(story())
    assert sum(isinstance(result, RunLimitError) for result in poor) == 3
    assert not any(isinstance(result, BaseException) for result in rich)


async def test_two_processes_that_make_one_call_both_see_what_is_kept_and_both_pay(tmp_path: Path) -> None:
    """Two sessions on one file stand for two processes: they share nothing else."""
    started = asyncio.Barrier(2)

    def session(reply: str) -> Session:
        async def answer(request: Request) -> str:
            await started.wait()
            return reply

        settings = Settings(folder=tmp_path)
        return Session(settings, models={"m": ScriptedModel(answer, "m")})

    async def ask(reply: str) -> tuple[str, int]:
        async with session(reply) as opened:
            recording = await opened.record("test")
            completion = await Run(new_scope(recording)).ask("q", draw=0)
            return completion.text, recording.tally.paid

    (first, paid), (second, also_paid) = await asyncio.gather(ask("A"), ask("B"))
    assert first == second
    assert (paid, also_paid) == (1, 1)


def test_tokens_a_minute_are_given_back_by_calls_that_fail() -> None:
    settings = {"m": ModelSettings("m", tokens_per_minute=6000, retries=0, settings={"max_tokens": 500})}

    def down(request: Request) -> str:
        if request.draw < 5:
            raise RuntimeError("down")
        return "ok"

    async def story() -> float:
        async with recording_run(down, settings=settings) as (run, _):
            for draw in range(6):
                await run.settle([run.ask("q", draw=draw)])
            return asyncio.get_running_loop().time()

    assert run_virtual(story()) < 1.0


def test_the_questions_clock_stands_still_while_it_waits_for_others() -> None:
    async def story() -> list[Any]:
        settings = {"m": ModelSettings("m", max_concurrency=1)}
        async with scripted_session(lambda request: {"text": "x", "delay_s": 1}, settings=settings) as session:
            recording = await session.record("test")

            async def question(number: int) -> str:
                scope = new_scope(recording)
                async with asyncio.timeout(3.0) as clock:
                    scope.clock.watch(clock)
                    return (await Run(scope).ask(f"q{number}")).text

            return await asyncio.gather(*(question(i) for i in range(20)), return_exceptions=True)

    assert run_virtual(story()) == ["x"] * 20


async def test_each_alias_is_priced_by_itself_though_the_model_is_one() -> None:
    model = ScriptedModel(lambda request: {"text": "x", "usage": {"input": 1, "output": 1}}, "one")

    class Plain:
        identity = type(model.identity)("openai", "one")
        complete = model.complete
        aclose = model.aclose

    prices = {
        "cheap": ModelSettings("cheap", price=PriceSettings(1.0, 1.0)),
        "dear": ModelSettings("dear", price=PriceSettings(5.0, 5.0)),
    }
    async with recording_run({"cheap": Plain(), "dear": Plain()}, settings=prices) as (run, _):
        first = await run.ask("q", model="cheap", draw=0)
        second = await run.ask("q", model="dear", draw=0)
    assert second.cached
    assert first.usd is not None
    assert second.usd == pytest.approx(5 * first.usd)


async def test_gathers_that_run_beside_each_other_share_no_draw() -> None:
    async with recording_run(echo) as (run, _):
        one, other = await asyncio.gather(
            run.gather(run.ask("a") for _ in range(3)), run.gather(run.ask("a") for _ in range(3))
        )
    assert len({reply.text for reply in (*one, *other)}) == 6


async def test_an_ask_without_a_draw_never_repeats_one_that_was_named() -> None:
    async with recording_run(echo) as (run, _):
        named = await run.ask("a", draw=0)
        free = await run.ask("a")
    assert (named.text, free.text) == ("a#0", "a#1")


@pytest.mark.parametrize("draw", [-1, 10_007])
async def test_a_draw_outside_the_repeats_block_is_refused(draw: int) -> None:
    async with recording_run(echo) as (run, _):
        with pytest.raises(UserError, match="draw"):
            await run.ask("a", draw=draw)


async def test_children_of_one_name_have_chances_of_their_own() -> None:
    async with recording_run(echo) as (run, _):
        numbers = [run.child("shuffle").rng.random() for _ in range(3)]
    assert len(set(numbers)) == 3


async def test_a_session_leaves_no_task_behind(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    store = open_store("sqlite:///:memory:", tmp_path)
    async with scripted_session(lambda request: {"text": "x", "delay_s": 1000}, store=store) as session:
        run = Run(new_scope(await session.record("test")))
        asks = [asyncio.ensure_future(run.ask("q", draw=i)) for i in range(4)]
        await asyncio.sleep(0)
        for ask in asks:
            ask.cancel()
        await asyncio.gather(*asks, return_exceptions=True)
    store.close()
    assert asyncio.all_tasks() == before


async def test_one_model_that_fails_to_close_does_not_keep_others_open(tmp_path: Path) -> None:
    closed: list[str] = []

    class Sticky(ScriptedModel):
        async def aclose(self) -> None:
            closed.append(self.identity.name)
            raise RuntimeError("stuck")

    models = {name: Sticky(echo, name) for name in ("a", "b")}
    session = await Session(Settings(folder=tmp_path), models=models).__aenter__()
    for name in models:
        session.endpoint(name)
    with pytest.raises(RuntimeError, match="stuck"):
        await session.__aexit__()
    assert sorted(closed) == ["a", "b"]


def found(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


async def test_no_secret_reaches_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "my-very-secret-key-12345"
    monkeypatch.setenv("MY_KEY", key)
    settings = Settings(folder=tmp_path, models={"m": ModelSettings("scripted:m", api_key_env="MY_KEY")})
    model = ScriptedModel(lambda request: f"your header was Bearer {key}", "m")
    async with Session(settings, models={"m": model}) as session:
        recording = await session.record("test")
        async with recording.closing() as ending:
            completion = await Run(new_scope(recording)).ask(f"is {key} a key?")
            ending.document = {"answer": f"{key}"}
    assert key not in completion.text
    assert [file for file in found(tmp_path) if key.encode() in file.read_bytes()] == []
    assert found(tmp_path), "there is a store to look into"


async def test_failures_of_the_provider_are_told_apart_from_the_budgets() -> None:
    def down(request: Request) -> str:
        raise RuntimeError("down")

    async with recording_run(down, budget=Budget(calls=5)) as (run, recording):
        with pytest.raises(SampleFailure):
            await run.ask("q")
    assert recording.limit is None
