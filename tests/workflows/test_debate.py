"""Debates: who reads what, and what becomes of an agent that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.testing.stage import stage
from treadle.workflows.registry import open_workflow


def round_of(request: Request) -> int:
    return (len(request.messages) + 1) // 2


async def test_each_agent_reads_the_others_and_never_itself() -> None:
    def reply(request: Request) -> str:
        past = [turn.content for turn in request.messages if turn.role == "assistant"]
        return f"round {int(past[-1].split()[1]) + 1 if past else 1} agent {request.draw}"

    async with stage(reply) as here:
        answer = await open_workflow("debate?agents=3&rounds=3", folder=Path())(Problem("2+2?"), here.run)
        assert answer == "round 3 agent 0", "all differ: the first agent's last answer"
        assert len(here.notes("tie")) == 1
        assert len(here.requests) == 9
        for turn in (2, 3):
            asked = [request for request in here.requests if f"round {turn - 1}" in request.messages[-1].content]
            assert {request.draw for request in asked} == {0, 1, 2}
            for request in asked:
                own, others = request.messages[1].content, request.messages[2].content
                assert own == f"round {turn - 1} agent {request.draw}"
                assert own not in others
                assert all(f"agent {agent}" in others for agent in range(3) if agent != request.draw)


async def test_agents_that_are_convinced_carry_the_vote() -> None:
    def reply(request: Request) -> str:
        right = request.draw == 2 or "Answer: 4" in request.messages[-1].content
        return "I see.\nAnswer: 4" if right else f"Hm.\nAnswer: {request.draw + 7}"

    async with stage(reply) as here:
        debate = open_workflow("debate", folder=Path())
        problem = Problem("2+2?", same=lambda a, b: a.split()[-1] == b.split()[-1])
        assert (await debate(problem, here.run)).endswith("Answer: 4")
        assert [(note["votes"], note["of"]) for note in here.notes("vote")] == [(3, 3)]


async def test_an_agent_that_fails_later_keeps_the_answer_it_had() -> None:
    def reply(request: Request) -> str | dict[str, Any]:
        if round_of(request) == 2 and request.draw == 0:
            return {"text": "Answ", "finish_reason": "length"}
        if round_of(request) == 2 and request.draw == 1:
            return "<think>nothing"
        return f"agent {min(request.draw, 1)}"

    async with stage(reply) as here:
        answer = await open_workflow("debate?agents=3&rounds=2", folder=Path())(Problem("?"), here.run)
        assert answer == "agent 1"
        assert [(note["candidate"], note["failure"]) for note in here.notes("dropped")] == [
            ("0", "truncated"),
            ("1", "empty"),
        ]
        assert [(note["votes"], note["of"]) for note in here.notes("vote")] == [(2, 3)]


async def test_a_round_that_is_cut_for_all_leaves_the_round_before() -> None:
    def reply(request: Request) -> str | dict[str, Any]:
        return "Answer: 4" if round_of(request) == 1 else {"text": "Ans", "finish_reason": "length"}

    async with stage(reply) as here:
        assert await open_workflow("debate", folder=Path())(Problem("?"), here.run) == "Answer: 4"
        assert [note["to"] for note in here.notes("fallback")] == ["the round before"]


async def test_one_agent_alone_does_not_debate() -> None:
    def reply(request: Request) -> str:
        if request.draw:
            raise RuntimeError("down")
        return "Answer: 4"

    async with stage(reply) as here:
        assert await open_workflow("debate", folder=Path())(Problem("?"), here.run) == "Answer: 4"
        assert here.calls == 1
        assert here.notes("no debate")
