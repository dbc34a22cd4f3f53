"""Best of n where tests that are run decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.sandbox.unprotected import Unprotected
from treadle.testing.stage import stage
from treadle.workflows.base import Workflow
from treadle.workflows.registry import open_workflow

WRONG, NEAR, RIGHT = "n", "n * n", "n + n"
PUBLIC = ("assert double(2) == 4",)


def program(body: str) -> str:
    return f"```python\ndef double(n):\n    return {body}\n```"


def problem(public: tuple[str, ...] = PUBLIC) -> Problem:
    return Problem("double(n) is n twice.", entry_point="double", public_tests=public)


def flow(spec: str) -> Workflow:
    return open_workflow(spec, folder=Path())


async def test_the_program_that_passes_the_public_tests_is_picked_without_a_judge() -> None:
    bodies = [WRONG, WRONG, RIGHT]
    async with stage(lambda request: f"So:\n{program(bodies[request.draw])}", sandbox=Unprotected()) as here:
        workflow = flow("best-of-n?judge=tests&n=3")
        assert await workflow(problem(), here.run) == program(RIGHT)
        assert here.calls == workflow.calls.high == 3
        await flow("single")(problem(), here.run)
        assert len(here.requests) == 3


async def test_programs_that_are_one_need_no_test() -> None:
    async with stage(lambda request: f"# draw {request.draw}\n{program(RIGHT)}") as here:
        workflow = flow("best-of-n?judge=agreement&n=3")
        assert await workflow(problem(), here.run) == program(RIGHT)
        assert here.calls == workflow.calls.low == 3


async def test_agreement_decides_among_those_that_pass_the_public_test() -> None:
    bodies = [NEAR, "2 * n", RIGHT, WRONG]

    def reply(request: Request) -> str:
        if "test cases as" in request.messages[-1].content:
            return "assert double(1) == 2\nassert double(3) == 6\nassert double(4) == 16"
        return program(bodies[request.draw])

    async with stage(reply, sandbox=Unprotected()) as here:
        answer = await flow("best-of-n?judge=agreement&n=4")(problem(), here.run)
        assert answer in (program(RIGHT), program("2 * n"))
        assert here.calls == 5


async def test_without_test_cases_the_public_tests_decide_and_the_calls_are_the_most() -> None:
    bodies = [WRONG, RIGHT]

    def reply(request: Request) -> str:
        asked = request.messages[0].content
        return "None." if "test cases as" in asked else program(bodies[request.draw])

    async with stage(reply, sandbox=Unprotected()) as here:
        workflow = flow("best-of-n?judge=agreement&n=2")
        assert await workflow(problem(), here.run) == program(RIGHT)
        assert here.calls == workflow.calls.high == 4


@pytest.mark.parametrize("judge", ["tests", "agreement"])
async def test_without_any_test_there_is_a_vote(judge: str) -> None:
    replies = ["Answer: 1", "Answer: 2", "so 2\nAnswer: 2"]
    async with stage(lambda request: replies[request.draw]) as here:
        assert await flow(f"best-of-n?judge={judge}&n=3")(Problem("?"), here.run) == "Answer: 2"
        assert [note["to"] for note in here.notes("fallback")][-1] == "vote"


@pytest.mark.parametrize("judge", ["tests", "agreement"])
@pytest.mark.parametrize("public", [PUBLIC, ()])
async def test_replies_without_a_program_do_not_back_each_other_up(judge: str, public: tuple[str, ...]) -> None:
    replies = ["I cannot.", "Sorry, no.", "Hm?", program(WRONG), "No."]

    def reply(request: Request) -> str:
        return "None." if "test cases as" in request.messages[0].content else replies[request.draw]

    async with stage(reply, sandbox=Unprotected()) as here:
        assert program(WRONG) in await flow(f"best-of-n?judge={judge}&n=5")(problem(public), here.run)
