"""MedPrompt: nearest examples, shuffled choices mapped back, and the vote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from treadle.ledger.problem import Problem
from treadle.models.base import Message, Request
from treadle.testing.stage import Stage, stage
from treadle.workflows.registry import open_workflow

QUESTION = "Which metal is liquid?\nOptions:\n(A) iron\n(B) mercury\n(C) gold\n(D) tin"
LETTERED = [("Which is a gas?\nOptions:\n(A) iron\n(B) neon", "(B)"), ("Which?\n(A) x\n(B) y", "(A)")]
WORDS = [("upper-case: ant", "ANT"), ("upper-case: bee", "BEE"), ("upper-case: cat", "CAT")]


def letter(text: str) -> str:
    found = re.findall(r"\(([A-D])\)", text)
    return found[-1] if found else ""


def same_letter(a: str, b: str) -> bool:
    return letter(a) == letter(b) != ""


async def answer(here: Stage, spec: str, problem: Problem) -> str:
    return await open_workflow(spec, folder=Path())(problem, here.run)


def knows(text: str, said: str = "It is ({}).") -> Any:
    """A model that finds an option by its text, wherever it stands."""

    def reply(request: Request) -> str:
        found = re.search(rf"\(([A-D])\) {text}", request.messages[-1].content)
        return said.format(found.group(1)) if found else "None."

    return reply


async def test_few_shot_without_a_vote_shows_the_nearest_examples_last_and_asks_once() -> None:
    async with stage(lambda request: request.messages[-1].content.split()[-1].upper()) as here:
        problem = Problem("upper-case: cow", examples=[*WORDS, ("Who is the king of France?", "nobody")])
        assert await answer(here, "medprompt?examples=3&votes=1", problem) == "COW"
        turns = here.requests[0].messages
        shots = [(turn.role, turn.content) for turn in turns[:-1]]
        assert shots == [
            ("user", "upper-case: cat"),
            ("assistant", "CAT"),
            ("user", "upper-case: bee"),
            ("assistant", "BEE"),
            ("user", "upper-case: ant"),
            ("assistant", "ANT"),
        ]
        assert turns[-1] == Message("user", "upper-case: cow")


async def test_examples_follow_the_form_that_answers_must_have() -> None:
    form = "End with a line 'Answer: <word>'."
    async with stage(lambda _: "Answer: COW") as here:
        await answer(
            here, "medprompt?examples=1&votes=1", Problem("upper-case: cow", examples=WORDS, answer_format=form)
        )
        shown, reply, asked = (turn.content for turn in here.requests[0].messages)
        assert shown == f"upper-case: ant\n\n{form}"
        assert reply == "Answer: ANT"
        assert asked == f"upper-case: cow\n\n{form}"


async def test_choices_are_shuffled_and_answers_mapped_back_before_the_vote() -> None:
    async with stage(knows("mercury")) as here:
        problem = Problem(QUESTION, examples=LETTERED, same=same_letter)
        won = await answer(here, "medprompt?votes=9", problem)
        assert letter(won) == "B"
        assert [(note["votes"], note["of"]) for note in here.notes("vote")] == [(9, 9)]
        orders = {request.messages[-1].content for request in here.requests}
        assert QUESTION in orders, "the first draw keeps the order"
        assert len(orders) > 4
        assert all(sorted(text.splitlines()[2:]) != text for text in orders)


async def test_a_model_that_always_says_a_loses_its_bias_in_the_shuffle() -> None:
    async with stage(lambda _: "It is (A).") as here:
        problem = Problem(QUESTION, examples=LETTERED, same=same_letter)
        await answer(here, "medprompt?votes=20", problem)
        (note,) = here.notes("vote")
        assert note["of"] == 20
        assert note["votes"] < 15


@pytest.mark.parametrize(
    ("examples", "form"), [(LETTERED, "Answer: (B)"), ([("?", "C")], "Answer: B"), ([], "Answer: (B)")]
)
async def test_a_mapped_answer_is_written_as_the_task_writes_it(examples: list[tuple[str, str]], form: str) -> None:
    async with stage(lambda request: knows("mercury")(request) if request.draw else "no idea") as here:
        problem = Problem(QUESTION, examples=examples, same=same_letter if "(" in form else lambda a, b: a == b)
        assert await answer(here, "medprompt?votes=12", problem) in {form, "It is (B)."}


async def test_a_shuffled_draw_that_chooses_nothing_has_no_vote() -> None:
    async with stage(lambda request: "It is (B)." if request.draw == 0 else "I cannot say.") as here:
        problem = Problem(QUESTION, examples=LETTERED, same=same_letter)
        assert await answer(here, "medprompt", problem) == "It is (B)."


@pytest.mark.parametrize(
    ("question", "examples"),
    [
        (QUESTION, [("Which metal is heavy?", "gold")]),
        ("Which is right, (A) this or (B) that?", LETTERED),
        ("Why?", []),
    ],
    ids=("answers are words", "options in a sentence", "no options"),
)
async def test_choices_stay_where_they_are_when_answers_are_not_their_letters(
    question: str, examples: list[tuple[str, str]]
) -> None:
    async with stage(lambda request: f"reply {request.draw}") as here:
        await answer(here, "medprompt?votes=4", Problem(question, examples=examples))
        assert {request.messages[-1].content for request in here.requests} == {question}
        assert sorted(request.draw for request in here.requests) == [0, 1, 2, 3]


async def test_with_reasoning_only_examples_that_the_model_gets_right_are_shown() -> None:
    def reply(request: Request) -> str:
        asked = request.messages[-1].content
        word = re.findall(r"upper-case: (\w+)", asked)[-1]
        return f"I raise each letter.\nAnswer: {'wrong' if word == 'bee' else word.upper()}"

    def same(a: str, b: str) -> bool:
        return a.split()[-1] == b.split()[-1]

    async with stage(reply) as here:
        problem = Problem("upper-case: cow", examples=WORDS, same=same)
        won = await answer(here, "medprompt?examples=3&reasoning=true&votes=2", problem)
        assert won.endswith("COW")
        assert here.calls == 3 + 2
        assert [(note["right"], note["of"]) for note in here.notes("solved examples")] == [(2, 3)]
        final = next(request for request in here.requests if len(request.messages) > 1)
        said = [turn.content for turn in final.messages if turn.role == "assistant"]
        assert [text.split()[-1] for text in said] == ["CAT", "ANT"]
        assert all(text.startswith("I raise") for text in said)
        assert final.messages[-1].content.startswith("Think step by step")


async def test_without_examples_it_asks_without_and_says_so() -> None:
    async with stage(lambda _: "fine") as here:
        assert await answer(here, "medprompt?votes=1", Problem("Why?")) == "fine"
        assert len(here.notes("no examples")) == 1
        assert here.requests[0].messages == (Message("user", "Why?"),)


async def test_examples_stand_between_system_turns_and_the_chat() -> None:
    chat = (Message("system", "Shout."), Message("user", "Hi"), Message("assistant", "HI"), Message("user", "cow"))
    async with stage(lambda _: "COW") as here:
        await answer(here, "medprompt?examples=1&votes=1", Problem("cow", messages=chat, examples=[("ant", "ANT")]))
        assert [turn.content for turn in here.requests[0].messages] == ["Shout.", "ant", "ANT", "Hi", "HI", "cow"]
