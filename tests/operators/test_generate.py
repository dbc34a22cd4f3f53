"""Drawing several answers: what comes, what is left out, and when it fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from treadle.errors import ProviderError, SampleBudgetError, TruncatedError
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.operators.generate import Attempt, generate, generate_each
from treadle.testing.stage import stage
from treadle.testing.virtual_time import run_virtual


def test_n_answers_are_draws_of_one_request_in_their_order_whichever_comes_first() -> None:
    async def draw() -> None:
        async with stage(lambda request: {"text": f"draw {request.draw}", "delay_s": 3 - request.draw}) as here:
            drafts = await generate(Problem("Why?"), run=here.run, n=3)
            assert [(draft.id, draft.text) for draft in drafts] == [("0", "draw 0"), ("1", "draw 1"), ("2", "draw 2")]
            assert [request.messages[-1].content for request in here.requests] == ["Why?"] * 3
            assert here.calls == 3

    run_virtual(draw())


def second_fails(request: Request) -> str | dict[str, Any]:
    if request.draw == 1:
        raise RuntimeError("out of order")
    if request.draw == 2:
        return {"text": "half an ans", "finish_reason": "length"}
    return "  " if request.draw == 3 else f"draw {request.draw}"


async def test_failed_cut_and_empty_draws_are_left_out_noted_and_leave_the_others() -> None:
    async with stage(second_fails) as here:
        drafts = await generate(Problem("?"), run=here.run, n=5)
        assert [draft.text for draft in drafts] == ["draw 0", "draw 4"]
        assert [(note["candidate"], note["failure"]) for note in here.notes("dropped")] == [
            ("1", "infra"),
            ("2", "truncated"),
            ("3", "empty"),
        ]
        assert len(asyncio.all_tasks()) == 1


async def test_when_every_draw_fails_the_first_failure_is_raised() -> None:
    def fails(request: Request) -> dict[str, Any]:
        if request.draw == 0:
            return {"text": "half", "finish_reason": "length"}
        raise RuntimeError("out of order")

    async with stage(fails) as here:
        with pytest.raises(TruncatedError):
            await generate(Problem("?"), run=here.run, n=3)
        with pytest.raises(ProviderError, match="out of order"):
            await generate_each([Attempt("a", Problem("?").messages, 1)], run=here.run)


async def test_empty_answers_stay_when_there_are_no_others() -> None:
    async with stage(lambda request: " " * request.draw) as here:
        drafts = await generate(Problem("?"), run=here.run, n=3)
        assert [draft.text for draft in drafts] == ["", " ", "  "]
        assert not here.notes("dropped")


async def test_a_question_whose_own_cap_does_not_cover_all_draws_fails_as_a_whole() -> None:
    async with stage(lambda _: "fine", caps=Budget(calls=3)) as here:
        with pytest.raises(SampleBudgetError):
            await generate(Problem("?"), run=here.run, n=5)
