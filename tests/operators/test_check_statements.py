"""Check statements: writing them, and ordering candidates by them."""

from __future__ import annotations

import re

import pytest

from treadle.errors import ProviderError, SampleBudgetError
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.models.base import Message, Request
from treadle.operators.candidate import Candidate
from treadle.operators.player import Player
from treadle.operators.unit_tests import FEWEST, MOST, check_statements, write_statements
from treadle.testing.stage import stage

SIX = [f"It names prime {number}." for number in range(6)]
CHECKS = ("It has a.", "It has b.", "It has c.")


def numbered(statements: list[str]) -> str:
    return "\n".join(f"{number}. {statement}" for number, statement in enumerate(statements, 1))


async def test_statements_are_written_in_one_call_that_sees_the_whole_chat() -> None:
    async with stage(lambda _: f"Here:\n{numbered(SIX)}") as here:
        problem = Problem("Six primes", messages=(Message("system", "Be brief."), Message("user", "Six primes")))
        assert await write_statements(problem, run=here.run) == tuple(SIX)
        assert here.calls == 1
        system, asked = here.requests[0].messages
        assert system.content == "Be brief."
        assert f"{FEWEST} to {MOST} of them" in asked.content
        assert await write_statements(problem, run=here.run, fewest=2, most=4) == tuple(SIX[:4])
        await write_statements(problem, run=here.run, fewest=3, most=3, instruction="Be picky.")
        assert (
            "Be picky.\n\nGive a numbered list of check statements, 3 of them" in here.requests[2].messages[1].content
        )


async def test_too_few_are_asked_for_once_more_and_equal_ones_count_once() -> None:
    def scarce(request: Request) -> str:
        return numbered(SIX[:2] if len(request.messages) == 1 else ["it NAMES prime 0.", *SIX[2:4]])

    async with stage(scarce) as here:
        assert await write_statements(Problem("?"), run=here.run, fewest=4) == tuple(SIX[:4])
        assert "2 of them" in here.requests[1].messages[-1].content
        assert not here.notes("fallback")
        assert await write_statements(Problem("?"), run=here.run) == tuple(SIX[:4])
        assert here.calls == 4
        assert [note["to"] for note in here.notes("fallback")] == ["the 4 there are"]


@pytest.mark.parametrize("said", ["", "I would rather not.", "1. ..."])
async def test_no_statements_are_none_and_that_is_said(said: str) -> None:
    async with stage(lambda _: said) as here:
        assert await write_statements(Problem("?"), run=here.run) == ()
        assert here.calls == 2
        assert [note["to"] for note in here.notes("fallback")] == ["no checks"]


async def test_the_last_line_of_a_list_that_was_cut_is_left_out() -> None:
    async with stage(lambda _: {"text": numbered(SIX), "finish_reason": "length"}) as here:
        assert await write_statements(Problem("?"), run=here.run) == tuple(SIX[:5])


def has(request: Request) -> list[bool]:
    shown = re.search(r"<candidate_1>\n(.*?)\n</candidate_1>", request.messages[0].content, re.DOTALL)
    assert shown is not None
    return [letter in shown[1] for letter in "abc"]


def results(request: Request) -> str:
    """Passes the checks whose letter the candidate has; its remarks are passive."""
    lines = [f"{number}: {'pass' if good else 'fail'}" for number, good in enumerate(has(request), 1)]
    return "Check 1 is passed over in silence.\n" + "\n".join(lines)


async def test_candidates_are_ordered_by_what_they_pass_and_keep_the_results() -> None:
    async with stage(results) as here:
        given = (Candidate("0", "b", "poor"), Candidate("1", "abc"), Candidate("2", "ac"), Candidate("3", "zzz"))
        checked = await check_statements(Problem("?"), given, CHECKS, run=here.run)
        assert [(each.id, sum(each.checks)) for each in checked] == [("1", 3), ("2", 2), ("0", 1), ("3", 0)]
        assert checked[1].checks == (True, False, True)
        assert checked[2].critique == "poor"
        assert here.calls == 4
        asked = here.requests[0].messages[0].content
        assert "poor" not in asked
        assert asked.index("<checks>\n1. It has a.") < asked.index("<candidate_1>")
        best = await check_statements(Problem("?"), given, CHECKS, run=here.run, top_k=2)
        assert [each.id for each in best] == ["1", "2"]
        assert not here.notes("fallback")


async def test_ties_are_ordered_by_the_question_and_never_by_the_texts() -> None:
    async def order(question: int, texts: str) -> str:
        async with stage(results) as here:
            given = [Candidate(str(place), text) for place, text in enumerate(texts)]
            checked = await check_statements(Problem("?", id=f"q{question}"), given, CHECKS, run=here.run)
            assert [note["candidates"] for note in here.notes("tie")] == [["0", "1", "2"]]
            return "".join(candidate.id for candidate in checked)

    orders = [await order(question, "xyz") for question in range(25)]
    assert len(set(orders)) == 6
    assert orders == [await order(question, "zyx") for question in range(25)]


async def test_too_few_results_are_asked_for_once_more_and_missing_ones_count_as_failed() -> None:
    def forgetful(request: Request) -> str:
        if "z" in request.messages[0].content.partition("<candidate_1>")[2][:3]:
            return "A passive candidate; nothing to pass on."
        return "1: pass" if len(request.messages) == 1 else "2: pass"

    async with stage(forgetful) as here:
        given = (Candidate("0", "z"), Candidate("1", "a"))
        checked = await check_statements(Problem("?"), given, CHECKS, run=here.run)
        assert [(each.id, each.checks) for each in checked] == [("1", (True, True, False)), ("0", (False,) * 3)]
        assert here.calls == 4
        assert [(note["candidate"], note["statements"]) for note in here.notes("fallback")] == [
            ("0", [1, 2, 3]),
            ("1", [3]),
        ]
        assert (await check_statements(Problem("?"), given[1:], CHECKS[:2], run=here.run))[0].checks == (True, False)
        assert here.calls == 5


async def test_without_statements_nothing_is_asked() -> None:
    async with stage(results) as here:
        given = (Candidate("0", "b"), Candidate("1", "abc"))
        assert await check_statements(Problem("?"), given, (), run=here.run) == given
        assert await check_statements(Problem("?"), given, (), run=here.run, top_k=1) == given[:1]
        assert await check_statements(Problem("?"), (), CHECKS, run=here.run) == ()
        assert here.calls == 0
        assert len(here.notes("fallback")) == 2


async def test_a_candidate_whose_check_fails_comes_last_and_when_all_fail_it_is_never_hidden() -> None:
    def partly(request: Request) -> str:
        if all(has(request)):
            raise RuntimeError("down")
        return results(request)

    async with stage({"m": lambda _: "m", "big": partly}) as here:
        given, player = (Candidate("0", "abc"), Candidate("1", "b"), Candidate("2", "z")), Player("tester", "big")
        checked = await check_statements(Problem("?"), given, CHECKS, run=here.run, player=player, instruction="Look.")
        assert [(each.id, each.checks) for each in checked[2:]] == [("0", ())]
        assert [(note["candidate"], note["failure"]) for note in here.notes("unchecked")] == [("0", "infra")]
        with pytest.raises(ProviderError):
            await check_statements(Problem("?"), given[:1], CHECKS, run=here.run, player=player)
    async with stage(results, caps=Budget(calls=2)) as here:
        with pytest.raises(SampleBudgetError):
            await check_statements(Problem("?"), given, CHECKS, run=here.run)
