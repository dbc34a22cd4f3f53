"""AlphaCodium: from a reflection to a program that passes public tests and written ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.errors import TruncatedError
from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.models.scripted import Scripted
from treadle.sandbox.unprotected import Unprotected
from treadle.testing.stage import stage
from treadle.workflows.alphacodium import AlphaCodium
from treadle.workflows.registry import open_workflow

PUBLIC = ("assert middle([1, 2, 3]) == 2",)
PROBLEM = Problem(
    "middle(items): the middle item; of two the first; None where there is none.",
    entry_point="middle",
    public_tests=PUBLIC,
)
FIRST = "def middle(items):\n    return items[0]\n"
NAIVE = "def middle(items):\n    return items[len(items) // 2]\n"
NONE_SAFE = "def middle(items):\n    return items[len(items) // 2] if items else None\n"
RIGHT = "def middle(items):\n    return items[(len(items) - 1) // 2] if items else None\n"
HARD_CODED = "def middle(items):\n    return 2 if items else None\n"
PLANS = (
    "<solution_1>Take the first.</solution_1>\n<solution_2>Index at half.</solution_2>\n<solution_3>Sort.</solution_3>"
)


def block(program: str) -> str:
    return f"```python\n{program}```"


def stage_of(request: Request) -> str:
    said = request.messages[-1].content
    for words, name in (
        ("does not pass every test", "repair"),
        ("Ranking: a > b > c", "rank"),
        ("test cases as `assert`", "tests"),
        ("There was no test case", "tests again"),
        ("the goal; the input", "reflect"),
        ("<solution_1> and", "plan"),
        ("and nothing else", "program again"),
    ):
        if words in said:
            return name
    return "program"


Story = dict[str, str | Callable[[Request], Scripted]]


def teller(story: Story) -> Callable[[Request], Scripted]:
    def reply(request: Request) -> Scripted:
        told = story.get(stage_of(request), "")
        return told if isinstance(told, str) else told(request)

    return reply


async def test_the_whole_way_from_reflection_to_a_program_that_passes_everything() -> None:
    def write(request: Request) -> str:
        return block(FIRST) if "Take the first." in request.messages[-1].content else block(NAIVE)

    def repair(request: Request) -> str:
        said = request.messages[-1].content
        return block(NONE_SAFE if "middle([])" in said else RIGHT)

    story: Story = {
        "reflect": "- goal: the middle",
        "plan": PLANS,
        "rank": "Ranking: 1 > 2 > 3",
        "tests": "assert middle([]) is None\nassert middle([5]) == 5\nassert middle([1, 2]) == 1",
        "program": write,
        "repair": repair,
    }
    async with stage(teller(story), sandbox=Unprotected()) as here:
        assert await AlphaCodium()(PROBLEM, here.run) == block(RIGHT)
        stages = [stage_of(request) for request in here.requests]
        assert stages == ["reflect", "plan", "rank", "tests", "program", "program", "repair", "repair"]
        reflecting, planning, _, testing, first, second, *_ = (each.messages[-1].content for each in here.requests)
        assert PUBLIC[0] in reflecting
        assert "<reflection>\n- goal: the middle\n</reflection>" in planning
        assert "6 test cases" in testing
        assert "Take the first." in first
        assert "Index at half." in second
        assert PUBLIC[0] not in here.requests[-1].messages[-1].content
        (chosen,) = here.notes("chosen")
        assert (chosen["candidate"], chosen["public"], chosen["written"]) == ("2", 1, 1)


async def test_a_wrong_first_draft_is_repaired_on_the_public_test() -> None:
    story: Story = {"plan": "Only one way.", "program": block(FIRST), "repair": f"I see.\n{block(NAIVE)}"}
    async with stage(teller(story), sandbox=Unprotected()) as here:
        assert await AlphaCodium(tests=0)(PROBLEM, here.run) == block(NAIVE)
        assert [stage_of(request) for request in here.requests] == ["reflect", "plan", "program", "repair"]


async def test_a_repair_that_breaks_a_test_that_passed_is_dropped() -> None:
    story: Story = {
        "plan": "One.",
        "tests": "assert middle([5]) == 5\nassert middle([]) is None",
        "program": block(NAIVE),
        "repair": block(HARD_CODED),
    }
    async with stage(teller(story), sandbox=Unprotected()) as here:
        assert await AlphaCodium()(PROBLEM, here.run) == block(NAIVE)
        assert [note["failure"] for note in here.notes("dropped")] == ["wrong"]


async def test_without_public_tests_the_written_ones_decide() -> None:
    problem = Problem(str(PROBLEM), entry_point="middle")
    story: Story = {
        "plan": PLANS,
        "rank": "Ranking: 3 > 2 > 1",
        "tests": "assert middle([5]) == 5\nassert middle([1, 2]) == 1",
        "program": lambda request: block(RIGHT if "Index at half." in request.messages[-1].content else NAIVE),
    }
    async with stage(teller(story), sandbox=Unprotected()) as here:
        assert await AlphaCodium()(problem, here.run) == block(RIGHT)
        assert "repair" not in [stage_of(request) for request in here.requests]


async def test_without_any_test_the_first_program_is_the_answer_and_nothing_is_run() -> None:
    story: Story = {"plan": PLANS, "rank": "Ranking: 2 > 1 > 3", "tests": "None.", "program": block(NAIVE)}
    async with stage(teller(story)) as here:
        assert await AlphaCodium()(Problem("middle", entry_point="middle"), here.run) == block(NAIVE)
        assert "there is no test to run" in [note["reason"] for note in here.notes("fallback")]


async def test_a_program_that_is_cut_gives_way_to_the_next_solution() -> None:
    def write(request: Request) -> Scripted:
        cut = "Take the first." in request.messages[-1].content
        return {"text": block(NAIVE), "finish_reason": "length"} if cut else block(RIGHT)

    story: Story = {"plan": PLANS, "rank": "Ranking: 1 > 2 > 3", "program": write}
    async with stage(teller(story), sandbox=Unprotected()) as here:
        assert await AlphaCodium(tests=0)(PROBLEM, here.run) == block(RIGHT)
    story["program"] = lambda _: {"text": block(NAIVE), "finish_reason": "length"}
    async with stage(teller(story), sandbox=Unprotected()) as here:
        with pytest.raises(TruncatedError):
            await AlphaCodium(tests=0)(PROBLEM, here.run)


@pytest.mark.parametrize("public", [PUBLIC, ()])
async def test_a_reply_without_a_program_gives_way_to_the_next_solution(public: tuple[str, ...]) -> None:
    def write(request: Request) -> str:
        return block(FIRST) if "Index at half." in request.messages[0].content else "Sorry, I cannot."

    story: Story = {"plan": PLANS, "rank": "Ranking: 1 > 2 > 3", "program": write, "program again": write}
    problem = Problem(str(PROBLEM), entry_point="middle", public_tests=public)
    async with stage(teller(story), sandbox=Unprotected()) as here:
        assert await AlphaCodium(tests=0)(problem, here.run) == block(FIRST)


async def test_the_same_program_is_not_run_on_the_same_tests_twice() -> None:
    story: Story = {"plan": "One.", "tests": "assert middle([5]) == 5", "program": block(RIGHT)}
    async with stage(teller(story), sandbox=Unprotected()) as here:
        assert await AlphaCodium()(PROBLEM, here.run) == block(RIGHT)
        assert len(here.notes("tested")) == 1


async def test_a_repair_that_does_not_mend_its_test_is_dropped() -> None:
    other = NAIVE.replace("// 2", ">> 1")
    story: Story = {
        "plan": "One.",
        "tests": "assert middle([]) is None",
        "program": block(NAIVE),
        "repair": block(other),
    }
    async with stage(teller(story), sandbox=Unprotected()) as here:
        assert await AlphaCodium()(PROBLEM, here.run) == block(NAIVE)
        assert [note["failure"] for note in here.notes("dropped")] == ["wrong"]


@pytest.mark.parametrize(
    "spec", ["alphacodium", "alphacodium?rounds=0", "alphacodium?solutions=1&tests=0", "alphacodium?rounds=3&tests=2"]
)
async def test_the_most_calls_are_those_of_a_model_that_is_never_right(spec: str) -> None:
    workflow = open_workflow(spec, folder=Path())

    def write(request: Request) -> str:
        return block(FIRST) if stage_of(request) == "program again" else "No program."

    story: Story = {
        "plan": PLANS,
        "rank": "I cannot say.",
        "tests": "I cannot say.",
        "tests again": "assert middle([7, 8]) == 0\nassert middle([5, 5, 6]) == 0\nassert middle([4, 4]) == 1",
        "program": write,
        "program again": write,
        "repair": block(FIRST),
    }
    async with stage(teller(story), sandbox=Unprotected()) as here:
        await workflow(PROBLEM, here.run)
        assert here.calls == workflow.calls.high


async def test_the_least_and_the_usual_calls() -> None:
    story: Story = {"reflect": "x", "plan": PLANS, "rank": "Ranking: 1 > 2 > 3", "program": block(RIGHT)}
    for spec, tests in (("alphacodium", "assert middle([5]) == 5"), ("alphacodium?solutions=1&tests=0", "")):
        workflow = open_workflow(spec, folder=Path())
        async with stage(teller({**story, "tests": tests}), sandbox=Unprotected()) as here:
            await workflow(PROBLEM, here.run)
            assert here.calls == workflow.calls.usual
    async with stage(teller({"plan": "One.", "program": block(RIGHT)})) as here:
        workflow = open_workflow("alphacodium", folder=Path())
        await workflow(Problem("Write a program."), here.run)
        assert here.calls == workflow.calls.low == 3


REPLIES = st.sampled_from(
    ["", "No.", PLANS, "Ranking: 2 > 1", "assert middle([]) is None", block(RIGHT), block(NAIVE), block("def f(:\n")]
)


@settings(max_examples=12, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=7), st.integers(1, 3), st.integers(0, 2), st.integers(0, 2))
async def test_calls_stay_within_their_bounds_whatever_is_said(
    replies: list[str], solutions: int, tests: int, rounds: int
) -> None:
    workflow = AlphaCodium(solutions, tests, rounds).workflow
    said = iter(replies * 40)
    async with stage(lambda _: next(said), sandbox=Unprotected()) as here:
        answer = await workflow(PROBLEM, here.run)
        assert isinstance(answer, str)
        assert workflow.calls.high is not None
        assert workflow.calls.low <= here.calls <= workflow.calls.high


def test_it_says_that_it_runs_code() -> None:
    runs = {spec: open_workflow(spec, folder=Path()).runs_code for spec in ("alphacodium", "program-of-thought")}
    assert all(runs.values())
    assert not open_workflow("best-of-n", folder=Path()).runs_code
    assert open_workflow("best-of-n?judge=tests", folder=Path()).runs_code
    assert re.fullmatch(r"alphacodium\?rounds=1", AlphaCodium(rounds=1).workflow.name)
