"""Money before the call: reserved, then settled, never exceeded."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.config_models import ModelSettings, PriceSettings
from treadle.errors import RunLimitError, SampleBudgetError, SampleFailure
from treadle.ledger.budget import Account, Amount, Budget, OverBudgetError
from treadle.ledger.run import Run
from treadle.models.base import Completion, Request, Usage
from treadle.testing.sessions import recording_run
from treadle.testing.virtual_time import run_virtual

A_DOLLAR_A_CALL = {"m": ModelSettings("m", price=PriceSettings(0.0, 1e6), settings={"max_tokens": 1})}


def dollar(request: Request) -> dict[str, object]:
    return {"text": "no answer here", "usage": {"input": 5, "output": 1}}


async def outcomes(run: Run, count: int) -> list[Completion | BaseException]:
    asked = (run.ask("q", draw=i) for i in range(count))
    return list(await asyncio.gather(*asked, return_exceptions=True))


async def test_parallel_calls_cannot_all_pass_a_check_before_any_of_them_adds() -> None:
    price = {"m": ModelSettings("m", price=PriceSettings(0.0, 0.3e6), settings={"max_tokens": 1})}
    async with recording_run(dollar, budget=Budget(usd=1.0), settings=price) as (run, recording):
        results = await outcomes(run, 10)
    assert sum(isinstance(result, Completion) for result in results) == 3
    assert sum(isinstance(result, RunLimitError) for result in results) == 7
    assert recording.account.spent.usd == pytest.approx(0.9)


async def test_replies_that_cannot_be_used_are_paid_for_and_end_the_run_at_its_cap() -> None:
    async with recording_run(dollar, budget=Budget(usd=2.5), settings=A_DOLLAR_A_CALL) as (run, recording):
        for draw in range(2):
            await run.ask("q", draw=draw)
        with pytest.raises(RunLimitError, match=r"--budget-usd 3 or more \(a lower max_tokens"):
            await run.ask("q", draw=2)
    assert recording.tally.usd == pytest.approx(2.0)


@pytest.mark.parametrize("budget", [Budget(calls=40), Budget(tokens=40 * 60), Budget(usd=40 * 60e-6)])
def test_a_hundred_calls_in_flight_never_exceed_any_unit(budget: Budget) -> None:
    rng = Random(1)
    price = {"m": ModelSettings("m", price=PriceSettings(1.0, 1.0), settings={"max_tokens": 20}, max_concurrency=100)}

    async def reply(request: Request) -> dict[str, object]:
        await asyncio.sleep(rng.random())
        if rng.random() < 0.2:
            raise RuntimeError("down")
        return {"text": "x", "usage": {"input": rng.randint(1, 40), "output": rng.randint(0, 20)}}

    async def story() -> Amount:
        async with recording_run(reply, budget=budget, settings=price) as (run, recording):
            results = await outcomes(run, 300)
            assert any(isinstance(result, RunLimitError) for result in results)
            return recording.account.spent

    spent = run_virtual(story())
    for unit in ("calls", "tokens", "usd"):
        cap = getattr(budget, unit)
        if cap is not None:
            assert 0.8 * cap <= getattr(spent, unit) <= cap + 1e-9, "used well, and not exceeded"


Step = tuple[int, int, bool]


@given(
    steps=st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30), st.booleans()), min_size=1, max_size=40),
    cap=st.integers(1, 100),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_an_account_is_never_overdrawn_and_nobody_waits_for_ever(steps: list[Step], cap: int, seed: int) -> None:
    rng = Random(seed)
    account = Account(Budget(tokens=cap))

    async def spend(most: int, used: int, fails: bool) -> int:
        try:
            with account.closing(await account.hold(Amount(1, most))) as reservation:
                await asyncio.sleep(rng.random())
                if not fails:
                    reservation.settle(Amount(1, min(most, used)))
                assert account.spent.tokens <= cap
                return 0 if fails else min(most, used)
        except OverBudgetError as error:
            return 0 if error.needed > cap else -1

    async def story() -> int:
        return sum(await asyncio.gather(*(spend(*step) for step in steps)))

    assert run_virtual(story()) == account.spent.tokens <= cap


def test_a_waiting_call_that_is_cancelled_gives_its_place_to_the_next() -> None:
    async def story() -> int:
        account = Account(Budget(calls=1))
        first = await account.hold(Amount(1))
        waiting = [asyncio.ensure_future(account.hold(Amount(1))) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        account.close(first)
        second = await waiting[1]
        second.settle(Amount(1))
        account.close(second)
        return account.spent.calls

    assert run_virtual(story()) == 1


async def test_a_call_that_fails_gives_its_reservation_back() -> None:
    def reply(request: Request) -> str:
        if request.draw == 0:
            raise RuntimeError("down")
        return "ok"

    async with recording_run(reply, budget=Budget(calls=1)) as (run, recording):
        with pytest.raises(SampleFailure):
            await run.ask("q", draw=0)
        assert (await run.ask("q", draw=1)).text == "ok"
    assert recording.account.spent.calls == 1


async def test_a_reply_without_usage_settles_at_its_reservation_and_says_so() -> None:
    price = {"m": ModelSettings("m", price=PriceSettings(1.0, 1.0), settings={"max_tokens": 7})}

    def silent(request: Request) -> dict[str, object]:
        return {"text": "x", "usage": None}

    async with recording_run(silent, budget=Budget(tokens=500), settings=price) as (run, recording):
        completion = await run.ask("q")
    assert completion.estimated
    assert completion.usage is not None
    assert completion.usage.output == 7
    assert recording.account.spent.tokens == completion.usage.total
    assert recording.tally.estimated == 1


async def test_cached_calls_reserve_nothing_of_the_runs_budget() -> None:
    async with recording_run(dollar, budget=Budget(calls=1)) as (run, recording):
        await run.ask("q", draw=0)
        assert (await run.ask("q", draw=0)).cached
        with pytest.raises(RunLimitError):
            await run.ask("q", draw=1)
    assert recording.account.spent.calls == 1


async def test_a_questions_own_cap_counts_logical_calls_cached_or_not() -> None:
    async with recording_run(dollar, caps=Budget(calls=2)) as (run, _):
        for _ in range(2):
            await run.ask("q", draw=0)
        with pytest.raises(SampleBudgetError):
            await run.ask("q", draw=0)


async def test_set_aside_money_is_not_there_until_it_is_released() -> None:
    account = Account(Budget(calls=3))
    account.set_aside(Amount(2))
    account.close(await account.hold(Amount(1)))
    with pytest.raises(OverBudgetError):
        await account.hold(Amount(2))
    account.set_aside(Amount())
    await account.hold(Amount(3))


async def test_a_provider_that_bills_above_max_tokens_is_reported() -> None:
    def greedy(request: Request) -> dict[str, object]:
        return {"text": "x", "usage": {"input": 1, "output": 50}}

    limits = {"m": ModelSettings("m", settings={"max_tokens": 10})}
    async with recording_run(greedy, settings=limits) as (run, recording):
        await run.ask("q")
    assert recording.tally.overrun_tokens == 40


def test_usage_adds_up() -> None:
    assert Usage(1, 0, 0, 2) + Usage(3, 1, 1, 4, 2) == Usage(4, 1, 1, 6, 2)
