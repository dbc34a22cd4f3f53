"""Program of thought: what a program computes is the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.sandbox.unprotected import Unprotected
from treadle.testing.stage import stage
from treadle.workflows.program_of_thought import ProgramOfThought, marked
from treadle.workflows.registry import open_workflow

RIGHT = "```python\ndef solve():\n    return sum(range(101))\n```"
WRONG = "```python\ndef solve():\n    return sum(range(n))\n```"
PROBLEM = Problem("What is 1 + 2 + ... + 100?", answer_format="End with a line 'Answer: <number>'.")


async def test_the_answer_is_what_the_program_returns() -> None:
    async with stage(lambda _: f"Answer: 5000\n{RIGHT}", sandbox=Unprotected()) as here:
        assert await ProgramOfThought()(PROBLEM, here.run) == "Answer: 5050"
        assert here.calls == 1


async def test_a_program_that_fails_is_written_anew_with_its_error() -> None:
    def reply(request: Request) -> str:
        return RIGHT if "NameError" in request.messages[-1].content else WRONG

    async with stage(reply, sandbox=Unprotected()) as here:
        assert await ProgramOfThought()(PROBLEM, here.run) == "Answer: 5050"
        assert here.calls == 2


@pytest.mark.parametrize("tries", [1, 3])
async def test_where_no_program_runs_a_chain_of_thought_answers(tries: int) -> None:
    def reply(request: Request) -> str:
        return "It is so.\nAnswer: 5050" if "Think step by step" in request.messages[0].content else WRONG

    workflow = open_workflow(f"program-of-thought?tries={tries}", folder=Path())
    async with stage(reply, sandbox=Unprotected()) as here:
        assert await workflow(PROBLEM, here.run) == "It is so.\nAnswer: 5050"
        assert here.calls == workflow.calls.high == tries + 1
        assert [note["to"] for note in here.notes("fallback")] == ["a chain of thought"]
        await open_workflow("cot", folder=Path())(PROBLEM, here.run)
        assert len(here.requests) == tries + 1


@pytest.mark.parametrize(
    ("wanted", "answer", "shown"),
    [
        ("", "4\n5", "4\n5"),
        ("Say it.", "4", "4"),
        ("End with a line 'Answer: X'.", "4", "Answer: 4"),
        ("End with a line 'Answer: X'.", "so it is\nAnswer: 4", "so it is Answer: 4"),
        ("End with a line '#### <number>'.", "4", "#### 4"),
        (r"Put the final answer in \boxed{}.", r"\frac{1}{2}", r"\boxed{\frac{1}{2}}"),
        (r"Put the final answer in \boxed{}.", r"\boxed{3}", r"\boxed{3}"),
        ("Give it between <answer> and </answer>.", "a\nb", "<answer>a b</answer>"),
    ],
)
def test_an_answer_is_marked_as_the_task_wants_it(wanted: str, answer: str, shown: str) -> None:
    assert marked(Problem("?", answer_format=wanted), answer) == shown
