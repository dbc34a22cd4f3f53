"""The workflows that Treadle brings: what they ask, what they answer, and how many calls that takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from treadle.errors import ProviderError
from treadle.ledger.problem import Problem
from treadle.models.base import Message, Request
from treadle.testing.stage import stage
from treadle.workflows.base import Calls, Workflow
from treadle.workflows.registry import WORKFLOWS, open_workflow

ASKED_ALONE = [name for name, kind in WORKFLOWS.items() if not kind.needs_workspace]

CHAT = (
    Message("system", "Answer like {a pirate}."),
    Message("user", "Hello"),
    Message("assistant", "Ahoy!"),
    Message("user", r"What is \frac{4}{2}?"),
)


def flow(spec: str) -> Workflow:
    return open_workflow(spec, folder=Path())


def agreeable(request: Request) -> str:
    """Every draft is one answer and the critic is content: the least a workflow can cost."""
    return "NO CHANGES" if "critic" in request.messages[-1].content else "So it is.\nAnswer: 2"


def quarrelsome(request: Request) -> str:
    """Every text differs, critics and judges never end well: the most a workflow can cost."""
    return f"{request.draw} of {hash_of(request)}"


def hash_of(request: Request) -> int:
    said = "".join(turn.content for turn in request.messages)
    return sum(ord(letter) * place for place, letter in enumerate(said))


@pytest.mark.parametrize(
    ("spec", "low", "high"),
    [
        ("single", 1, 1),
        ("cot", 1, 1),
        ("self-consistency?n=1", 1, 1),
        ("self-consistency?n=7", 7, 7),
        ("best-of-n?n=1", 1, 1),
        ("best-of-n?n=2", 2, 4),
        ("best-of-n?n=5", 5, 7),
        ("best-of-n?judge=pairs&n=1", 1, 1),
        ("best-of-n?judge=pairs&n=3", 3, 11),
        ("self-refine?rounds=1", 2, 3),
        ("self-refine?rounds=3", 2, 7),
        ("diverse?approaches=2", 2, 4),
        ("diverse?approaches=8", 8, 10),
        ("debate?agents=2&rounds=1", 2, 2),
        ("debate?agents=3&rounds=4", 12, 12),
        ("medprompt", 5, 5),
        ("medprompt?examples=0&votes=2", 2, 2),
        ("medprompt?votes=1", 1, 1),
        ("medprompt?examples=2&reasoning=true&votes=3", 3, 5),
    ],
)
async def test_the_formula_of_calls_holds_against_the_ledger(spec: str, low: int, high: int) -> None:
    workflow = flow(spec)
    assert workflow.calls == Calls(low, high)
    async with stage(agreeable) as here:
        await workflow(Problem("1+1?"), here.run)
        assert here.calls == low
    async with stage(quarrelsome) as here:
        examples = [("2+2?", "4"), ("3+3?", "6"), ("4+4?", "8")]
        await workflow(Problem("1+1?", examples=examples), here.run)
        assert here.calls == high


@pytest.mark.parametrize("question", ["2+2?", "  keep {my} spaces \n", ""])
async def test_single_sends_the_question_exactly_as_it_is(question: str) -> None:
    async with stage(lambda _: "4") as here:
        assert await flow("single")(Problem(question), here.run) == "4"
        assert here.requests[0].messages == (Message("user", question),)


async def test_the_form_of_the_answer_follows_the_last_question() -> None:
    form = "End with a line 'Answer: <number>'."
    async with stage(lambda _: "Answer: 2") as here:
        await flow("single")(Problem(CHAT[-1].content, messages=CHAT, answer_format=form), here.run)
        await flow("cot")(Problem("1+1?", answer_format=form), here.run)
        await flow("cot")(Problem("1+1?"), here.run)
        first, told, untold = (request.messages for request in here.requests)
        assert first == (*CHAT[:3], Message("user", f"{CHAT[-1].content}\n\n{form}"))
        assert told[0].content.startswith("Think step by step")
        assert told[0].content.endswith(f"\n\n1+1?\n\n{form}")
        assert 'of the form "Answer: ..."' in untold[0].content


@pytest.mark.parametrize("name", ASKED_ALONE)
async def test_system_turns_and_earlier_turns_survive_in_every_request(name: str) -> None:
    examples = [("What is 1?", "1"), ("What is 3?", "3")]
    async with stage(quarrelsome) as here:
        await flow(name)(Problem(CHAT[-1].content, messages=CHAT, examples=examples), here.run)
        assert here.requests
        for request in here.requests:
            turns = list(request.messages)
            assert turns[0] == CHAT[0]
            places = [turns.index(turn) for turn in CHAT[:3]]
            assert places == sorted(places)
            assert any(CHAT[-1].content in turn.content for turn in turns[places[-1] :])
            if name != "medprompt":
                assert places == [0, 1, 2]


async def test_a_chat_without_a_turn_of_the_user_gets_the_question_as_one() -> None:
    async with stage(lambda _: "4") as here:
        await flow("cot")(Problem("2+2?", messages=(Message("system", "Count."),)), here.run)
        system, asked = here.requests[0].messages
        assert system.content == "Count."
        assert "2+2?" in asked.content


async def test_self_consistency_shares_its_first_draws_with_cot_and_with_fewer_votes() -> None:
    async with stage(lambda request: f"Answer: {request.draw % 2}") as here:
        for spec in ("cot", "self-consistency?n=3", "self-consistency?n=5", "debate?agents=3&rounds=1"):
            await flow(spec)(Problem("?"), here.run)
        assert here.recording.tally.paid == 5
        assert here.calls == 1 + 3 + 5 + 3


async def test_a_majority_decides_and_drafts_that_are_all_one_text_are_noted() -> None:
    replies = ["so 5", "so 4", "4.0 it is\nAnswer: 4.0"]

    def same(a: str, b: str) -> bool:
        return float(re.findall(r"[\d.]+", a)[-1]) == float(re.findall(r"[\d.]+", b)[-1])

    async with stage(lambda request: replies[request.draw]) as here:
        assert await flow("self-consistency?n=3")(Problem("2+2?", same=same), here.run) == "so 4"
        assert not here.notes("identical")
        await flow("debate?agents=2&rounds=1")(Problem("2+2?", same=same), here.run)
    async with stage(lambda _: "so 4") as here:
        await flow("self-consistency?n=3")(Problem("2+2?", same=same), here.run)
        assert len(here.notes("identical")) == 1


def half_down(request: Request) -> str | dict[str, Any]:
    if request.draw % 2 == 0:
        return {"text": "Answer: 9", "finish_reason": "length"}
    return "Answer: 4"


@pytest.mark.parametrize("name", ["self-consistency?n=4", "best-of-n?n=4", "debate?agents=4&rounds=2", "medprompt"])
async def test_drafts_that_fail_have_no_say(name: str) -> None:
    async with stage(half_down) as here:
        assert "4" in await flow(name)(Problem("2+2?"), here.run)
        assert here.notes("dropped")


@pytest.mark.parametrize("name", ASKED_ALONE)
async def test_when_everything_fails_the_first_failure_is_raised(name: str) -> None:
    def down(_: Request) -> str:
        raise RuntimeError("the model is down")

    async with stage(down) as here:
        with pytest.raises(ProviderError, match="the model is down"):
            await flow(name)(Problem("?", examples=[("a?", "b")]), here.run)


async def test_best_of_n_returns_the_draft_that_the_judge_names() -> None:
    def judge(request: Request) -> str:
        numbers = re.findall(r"<candidate_(\d)>\n(draft \d)", request.messages[-1].content)
        return next(f"Best: {number}" for number, text in numbers if text == "draft 2")

    def write(request: Request) -> str:
        return f"draft {request.draw}"

    for spec in ("best-of-n?n=4", "best-of-n?n=4&judge=pairs"):
        async with stage(
            {"m": write, "big": judge if "pairs" not in spec else longest_number}, roles={"judge": "big"}
        ) as here:
            answer = await flow(spec)(Problem("?"), here.run)
            assert answer == ("draft 2" if "pairs" not in spec else "draft 3")


def longest_number(request: Request) -> str:
    numbers = re.findall(r"<candidate_(\d)>\ndraft (\d)", request.messages[-1].content)
    return f"Best: {max(numbers, key=lambda pair: pair[1])[0]}"


async def test_self_refine_goes_on_until_the_critic_is_content() -> None:
    def reply(request: Request) -> str:
        turns = request.messages
        if "critic" in turns[-1].content:
            return "NO CHANGES" if turns[-2].content == "v2" else f"Not yet: {turns[-2].content}"
        return "v0" if len(turns) == 1 else f"v{int(turns[-2].content[1:]) + 1}"

    async with stage(reply) as here:
        assert await flow("self-refine?rounds=9")(Problem("?"), here.run) == "v2"
        assert here.calls == 1 + 2 * 2 + 1
    async with stage(reply) as here:
        assert await flow("self-refine?rounds=1")(Problem("?"), here.run) == "v1"


async def test_self_refine_stops_when_a_rewriting_changes_nothing() -> None:
    async with stage(lambda request: "Too short." if "critic" in request.messages[-1].content else "same") as here:
        assert await flow("self-refine?rounds=5")(Problem("?"), here.run) == "same"
        assert here.calls == 3


async def test_diverse_asks_in_different_ways_and_compares_only_what_differs() -> None:
    async with stage(agreeable) as here:
        await flow("diverse?approaches=5")(Problem("1+1?"), here.run)
        assert len({request.messages for request in here.requests}) == 5
        assert {request.draw for request in here.requests} == {0}
    async with stage(quarrelsome) as here:
        answer = await flow("diverse?approaches=3")(Problem("1+1?"), here.run)
        assert [note["to"] for note in here.notes("fallback")] == ["vote"]
        drafts = [quarrelsome(request) for request in here.requests if "<candidate_1>" not in str(request.messages)]
        assert answer in drafts
