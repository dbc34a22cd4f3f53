"""Writing programs: what is asked, and which program of a reply counts."""

from __future__ import annotations

import re

import pytest

from treadle.errors import ProviderError, TruncatedError
from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.models.scripted import Scripted
from treadle.operators.code_generate import FORM, code_generate
from treadle.testing.stage import stage

ADD = "def add(a, b):\n    return a + b\n"
BLOCK = f"```python\n{ADD}```"


async def test_a_question_that_names_its_function_is_asked_as_it_is() -> None:
    async with stage(lambda _: f"So:\n{BLOCK}\nand it is used like this:\n```\nadd(1, 2)\n```") as here:
        problem = Problem("Write add(a, b).", entry_point="add", answer_format="One block, please.")
        (written,) = await code_generate(problem, run=here.run)
        assert (written.id, written.text, written.made_by) == ("0", BLOCK, "generator")
        assert here.requests[0].messages[0].content == "Write add(a, b).\n\nOne block, please."
        await code_generate(Problem("Write add(a, b)."), run=here.run)
        assert here.requests[1].messages[0].content == f"Write add(a, b).\n\n{FORM}"
        assert not here.notes("asked again")


async def test_a_question_that_does_not_is_told_the_name_and_the_public_tests() -> None:
    async with stage(lambda _: ADD) as here:
        problem = Problem("Sum two numbers.", entry_point="add", public_tests=("assert add(1, 2) == 3",))
        (written,) = await code_generate(problem, run=here.run)
        assert written.text == BLOCK
        asked = here.requests[0].messages[0].content
        assert "must define `add`" in asked
        assert "<tests>\nassert add(1, 2) == 3\n</tests>" in asked


@pytest.mark.parametrize(
    ("first", "wrong"),
    [
        ("I would rather not.", "There is no Python program."),
        ("```python\ndef add(a, b:\n    return a\n```", r"no valid Python \(line 1: "),
        ("```python\ndef plus(a, b):\n    return a + b\n```", "does not define add at its top level"),
    ],
)
async def test_a_reply_without_the_program_is_asked_for_once_more(first: str, wrong: str) -> None:
    def reply(request: Request) -> str:
        return BLOCK if len(request.messages) > 1 else first

    async with stage(reply) as here:
        (written,) = await code_generate(Problem("add!", entry_point="add"), run=here.run)
        assert written.text == BLOCK
        _, said, told = here.requests[1].messages
        assert said.content == first
        assert re.search(wrong, told.content)
        assert [note["candidate"] for note in here.notes("asked again")] == ["0"]


async def test_an_empty_reply_is_followed_by_another_draw() -> None:
    async with stage(lambda request: BLOCK if request.draw else "") as here:
        (written,) = await code_generate(Problem("add!", entry_point="add"), run=here.run)
        assert written.text == BLOCK
        assert here.requests[0].messages == here.requests[1].messages


async def test_of_several_drafts_those_without_a_program_are_left_out() -> None:
    def reply(request: Request) -> Scripted:
        if request.draw == 0:
            return {"text": BLOCK, "finish_reason": "length"}
        return BLOCK if request.draw == 2 else "No."

    async with stage(reply) as here:
        written = await code_generate(Problem("add!", entry_point="add"), run=here.run, n=4)
        assert [each.id for each in written] == ["2"]
        assert [(note["candidate"], note["failure"]) for note in here.notes("dropped")] == [
            ("0", "truncated"),
            ("1", "format"),
            ("3", "format"),
        ]
        assert here.calls == 4 + 2


async def test_where_no_reply_holds_the_program_they_stay_as_they_are() -> None:
    async with stage(lambda request: f"No, {request.draw}.") as here:
        written = await code_generate(Problem("add!", entry_point="add"), run=here.run, n=2)
        assert [each.text for each in written] == ["No, 0.", "No, 1."]
        assert [note["to"] for note in here.notes("fallback")] == ["the replies as they are"]


async def test_a_failure_of_every_draw_is_never_hidden() -> None:
    def down(_: Request) -> str:
        raise RuntimeError("down")

    async with stage(down) as here:
        with pytest.raises(ProviderError, match="down"):
            await code_generate(Problem("add!"), run=here.run, n=2)
    async with stage(lambda _: {"text": BLOCK, "finish_reason": "length"}) as here:
        with pytest.raises(TruncatedError):
            await code_generate(Problem("add!"), run=here.run)


async def test_a_body_is_completed_by_the_head_that_the_question_gives() -> None:
    header = 'def add(a, b):\n    """The sum."""\n'
    async with stage(lambda _: "```python\n    return a + b\n```") as here:
        problem = Problem(header, entry_point="add", fields={"header": header})
        (written,) = await code_generate(problem, run=here.run)
        assert written.text == f"```python\n{header}    return a + b\n```"
        assert here.calls == 1
