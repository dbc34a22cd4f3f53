"""Verifying: a check, then a verdict; who passes, and what happens when nobody does."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from treadle.errors import ProviderError, SampleBudgetError
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.models.base import Message, Request
from treadle.operators.candidate import Candidate
from treadle.operators.player import Player
from treadle.operators.verify import verify
from treadle.testing.stage import stage

THREE = (Candidate("a", "It is 4.", "weak"), Candidate("b", "It is 5."), Candidate("c", "So 4."))


def sees(request: Request) -> str:
    found = re.search(
        r"<candidate_1>\n(.*?)\n</candidate_1>", request.messages[-1].content + _first(request), re.DOTALL
    )
    assert found is not None
    return found[1]


def _first(request: Request) -> str:
    return "".join(turn.content for turn in request.messages if turn.role == "user")


def four(request: Request) -> str:
    """Finds what says 4 correct."""
    if "Verdict" not in request.messages[-1].content:
        return "2 + 2 makes 4. That is incorrect only in base 3."
    return f"So:\n**Verdict: {'correct' if '4' in sees(request) else 'incorrect'}**"


async def test_who_is_found_correct_goes_on_after_two_calls_each() -> None:
    async with stage(four) as here:
        problem = Problem("2+2?", messages=(Message("system", "Count."), Message("user", "2+2?")))
        assert await verify(problem, THREE, run=here.run) == (THREE[0], THREE[2])
        assert here.calls == 6
        assert not here.notes("nobody passed")
        checks = [request for request in here.requests if len(request.messages) == 2]
        verdicts = [request for request in here.requests if len(request.messages) == 4]
        assert (len(checks), len(verdicts)) == (3, 3)
        for request in checks:
            asked = request.messages[1].content
            assert "weak" not in asked
            assert not re.search(r"why .*(?:right|correct|wrong)", asked)
        assert verdicts[0].messages[2] == Message("assistant", "2 + 2 makes 4. That is incorrect only in base 3.")


async def test_equal_candidates_are_two_candidates_and_share_what_is_paid() -> None:
    async with stage(four) as here:
        twins = (THREE[0], Candidate("z", THREE[0].text))
        assert await verify(Problem("2+2?"), twins, run=here.run, top_k=1) == twins[:1]
        assert (here.calls, here.recording.tally.paid) == (4, 2)


async def test_when_nobody_passes_all_go_on_and_that_is_said() -> None:
    async with stage(four) as here:
        given = (THREE[1], Candidate("d", "6"))
        assert await verify(Problem("2+2?"), given, run=here.run, top_k=1) == given
        assert [note["candidates"] for note in here.notes("nobody passed")] == [["b", "d"]]


async def test_a_verdict_that_cannot_be_read_is_asked_for_once_more_then_does_not_pass() -> None:
    def hesitant(request: Request) -> str:
        if "Verdict" not in request.messages[-1].content:
            return "Hm."
        return "Verdict: correct" if "4" in sees(request) and len(request.messages) == 5 else "Verdict: partly correct"

    async with stage(hesitant) as here:
        assert await verify(Problem("2+2?"), THREE, run=here.run) == (THREE[0], THREE[2])
        assert here.calls == 9
        assert len(here.notes("asked again")) == 3
        assert [note["candidate"] for note in here.notes("fallback")] == ["b"]


async def test_a_check_that_says_nothing_still_comes_to_a_verdict() -> None:
    def mute(request: Request) -> str:
        return "<think>hm</think>" if "Verdict" not in request.messages[-1].content else four(request)

    async with stage(mute) as here:
        assert await verify(Problem("2+2?"), THREE, run=here.run) == (THREE[0], THREE[2])
        assert here.calls == 6
        assert [note["candidate"] for note in here.notes("no reasoning")] == ["a", "b", "c"]
        assert {len(request.messages) for request in here.requests} == {1}


async def test_a_candidate_whose_calls_fail_does_not_pass_and_when_all_fail_it_is_never_hidden() -> None:
    def partly(request: Request) -> str:
        if "5" in sees(request):
            raise RuntimeError("down")
        return four(request)

    async with stage(partly) as here:
        assert await verify(Problem("2+2?"), THREE, run=here.run) == (THREE[0], THREE[2])
        assert [(note["candidate"], note["failure"]) for note in here.notes("dropped")] == [("b", "infra")]
        with pytest.raises(ProviderError):
            await verify(Problem("2+2?"), THREE[1:2], run=here.run)


async def test_a_cap_that_ends_within_the_layer_ends_the_question() -> None:
    async with stage(four, caps=Budget(calls=4)) as here:
        with pytest.raises(SampleBudgetError):
            await verify(Problem("2+2?"), THREE, run=here.run)


async def test_player_and_instruction_can_be_given_and_nobody_is_asked_about_nothing() -> None:
    async with stage({"m": lambda _: "m", "big": four}) as here:
        player = Player("verifier", "big")
        assert await verify(Problem("2+2?"), THREE, run=here.run, player=player, instruction="Look.") == (
            THREE[0],
            THREE[2],
        )
        assert Counter(request.model for request in here.requests) == {"big": 6}
        assert here.requests[0].messages[-1].content.endswith("\n\nLook.")
        assert await verify(Problem("2+2?"), (), run=here.run) == ()
