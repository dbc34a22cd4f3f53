"""Programs that compute an answer: what they return counts, and errors are fed back."""

from __future__ import annotations

import pytest

from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.models.scripted import Scripted
from treadle.operators.programmer import Programmed, programmer, run_program
from treadle.sandbox.base import Limits
from treadle.sandbox.unprotected import Unprotected
from treadle.testing.stage import stage

WRONG = "```python\ndef solve():\n    return 17 * undefined\n```"
RIGHT = "```python\ndef solve():\n    return 17 * 3\n```"


async def test_the_value_of_solve_is_the_output_and_nothing_that_is_printed() -> None:
    code = "print('Answer: 4')\ndef solve():\n    print('solve() returned 5')\n    return [51, 'x']\n"
    async with stage(lambda _: f"Let me compute.\n```python\n{code}```", sandbox=Unprotected()) as here:
        result = await programmer(Problem("17 * 3?"), run=here.run, analysis="Multiply.")
        assert result == Programmed(code, "[51, 'x']", True)
        asked = here.requests[0].messages[0].content
        assert "<task>\n17 * 3?\n</task>" in asked
        assert "<analysis>\nMultiply.\n</analysis>" in asked
        assert here.calls == 1


async def test_an_error_is_fed_back_and_the_next_program_answers() -> None:
    def reply(request: Request) -> str:
        return RIGHT if "undefined" in request.messages[-1].content else WRONG

    async with stage(reply, sandbox=Unprotected()) as here:
        result = await programmer(Problem("17 * 3?"), run=here.run)
        assert (result.output, result.ok) == ("51", True)
        _, said, told = here.requests[1].messages
        assert said.content == WRONG
        assert "NameError" in told.content
        assert [note["attempt"] for note in here.notes("failed")] == [0]


async def test_tries_end_and_the_last_error_is_told() -> None:
    async with stage(lambda _: WRONG, sandbox=Unprotected()) as here:
        result = await programmer(Problem("?"), run=here.run, tries=2)
        assert not result.ok
        assert "NameError" in result.output
        assert here.calls == 2


async def test_a_reply_without_a_program_and_one_that_is_cut_take_a_try_each() -> None:
    replies: list[Scripted] = ["It is 51.", {"text": RIGHT, "finish_reason": "length"}, RIGHT]

    async with stage(lambda request: replies[request.draw], sandbox=Unprotected()) as here:
        result = await programmer(Problem("?"), run=here.run)
        assert result.output == "51"
        assert "There is no Python program." in here.requests[1].messages[-1].content
        assert "cut" in here.requests[2].messages[-1].content


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def solve():\n    pass\n", "returned nothing"),
        ("def solve():\n    return solve\n", "which is no answer"),
        ("def solve():\n    return 'x' * 5000\n", "5000 characters"),
        ("import sys\ndef solve():\n    sys.exit(0)\n", "ended, or hid its output"),
        ("def solve():\n    while True:\n        pass\n", "too long"),
        ("def solve():\n    raise ValueError('odd')\n", "ValueError: odd"),
    ],
)
async def test_whatever_gives_no_answer_is_said_in_words(code: str, words: str) -> None:
    async with stage(lambda _: "", sandbox=Unprotected()) as here:
        result = await run_program(code, run=here.run, limits=Limits(seconds=1.0 if "while" in code else 10.0))
        assert not result.ok
        assert words in result.output
