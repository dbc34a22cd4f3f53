"""Hidden tests that stand in a prompt are found, and a model's own guess is none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from treadle.errors import Caution
from treadle.evaluation.evaluate import evaluate
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.base import Sample
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session

PUBLIC = "assert shout('a') == 'A!'"
HIDDEN = "assert shout('hello') == 'HELLO!'"
CHECK = """\
def check(candidate):
    assert candidate('hello') == 'HELLO!'
    assert candidate('x' * 9) == 'X' * 9 + '!'
"""
TABLE = """\
import pytest
rows = [[['some', 'words'], 17], [['others', 'here'], 4]]

@pytest.mark.parametrize('a, b', rows)
def test(a, b):
    assert shout(*a) == b
"""
PLAIN = CodeTests((PUBLIC, HIDDEN), ("shout",))
CHECKED = CodeTests((CHECK,), ("shout",), check="check")
PYTEST = CodeTests((TABLE,), ("shout",), framework="pytest", module="shout")

Flow = Callable[[Problem, Run], Awaitable[str]]


async def measured(
    flow: Flow, reply: Callable[[Request], str] | None = None, tests: CodeTests | None = PLAIN, **options: Any
) -> Any:
    hidden = {} if tests is None else {"tests": tests}
    samples = tuple(
        Sample(f"q{n}", f"Write shout, number {n}.", "yes", hidden=hidden, public_tests=(PUBLIC,), entry_point="shout")
        for n in range(2)
    )
    async with scripted_session({"m": reply or (lambda request: "yes")}) as session:
        return await evaluate(session, (flow,), Task("t", samples, ExactScorer()), **options)


def asking(*prompts: str) -> Flow:
    async def flow(problem: Problem, run: Run) -> str:
        for prompt in prompts:
            answer = (await run.child("step").ask(f"{problem}\n{prompt}")).text
        return answer  # pyright: ignore[reportPossiblyUnboundVariable]

    return flow


@pytest.mark.parametrize(
    ("tests", "prompt", "leaked"),
    [
        (PLAIN, f"It must pass:\n{HIDDEN}", "shout('hello') == 'HELLO!'"),
        (PLAIN, 'assert   shout("hello")=="HELLO!"', "shout('hello') == 'HELLO!'"),
        (PLAIN, "shout('hello')\n  == ('HELLO!')", "shout('hello') == 'HELLO!'"),
        (CHECKED, CHECK, "candidate('hello') == 'HELLO!'"),
        (CHECKED, "shout('x' * 9) should be: shout('x' * 9) == 'X' * 9 + '!'", "candidate('x' * 9) == 'X' * 9 + '!'"),
        (PYTEST, "the case [['others', 'here'], 4] fails", "[['others', 'here'], 4]"),
    ],
)
async def test_a_hidden_test_in_a_prompt_is_found_however_it_is_laid_out(
    tests: CodeTests, prompt: str, leaked: str
) -> None:
    with pytest.warns(Caution, match="hidden tests reached the prompts of .*flow"):
        report = await measured(asking("go on", prompt), tests=tests)
    document = report.document()
    assert leaked in [leak["test"] for leak in document["leaks"]]
    assert {leak["sample"] for leak in document["leaks"]} == {"q0", "q1"}
    row = document["results"][0]
    assert {leak["workflow"] for leak in document["leaks"]} == {row["workflow"]}
    assert (row["score"], row["failed"]["crash"]) == (0.0, 2)
    assert not report.usable
    assert "not usable" in document["message"]


@pytest.mark.parametrize(
    "prompt", [PUBLIC, "assert shout('b') == 'B!'", "def check(candidate):", "HELLO!", "shout(*a) is called"]
)
async def test_what_is_public_or_says_nothing_is_none(prompt: str) -> None:
    report = await measured(asking(prompt), tests=PLAIN if prompt == PUBLIC else CHECKED)
    assert report.document()["leaks"] == []
    assert report.usable
    assert report.rows[0].score == 1.0


async def test_a_model_may_guess_a_test_and_be_sent_its_own_words() -> None:
    async def flow(problem: Problem, run: Run) -> str:
        guess = (await run.ask(f"{problem} Write tests.")).text
        await run.gather(run.ask(f"{problem} {guess} {place}") for place in range(2))
        # As an operator writes it again that has read the statement out of the reply.
        return (await run.ask(f"Fails: {HIDDEN}")).text

    def reply(request: Request) -> str:
        asked = request.messages[-1].content
        return 'Tests: assert shout("hello") == "HELLO!", "loud"' if asked.endswith("tests.") else "yes"

    report = await measured(flow, reply)
    assert report.document()["leaks"] == []
    assert report.rows[0].score == 1.0


async def test_a_model_that_repeats_what_it_was_sent_excuses_nothing() -> None:
    async def flow(problem: Problem, run: Run) -> str:
        said = (await run.ask(f"{problem} {HIDDEN}")).text
        return (await run.ask(f"{problem} {said}")).text

    with pytest.warns(Caution):
        report = await measured(flow, lambda request: f"I see {HIDDEN}")
    assert len(report.document()["leaks"]) == 2


async def test_branches_that_run_at_once_do_not_excuse_each_other() -> None:
    async def flow(problem: Problem, run: Run) -> str:
        answers = await run.gather(run.ask(f"{problem} {words}") for words in ("Write tests.", HIDDEN))
        return answers[1].text

    def reply(request: Request) -> Any:
        guess = request.messages[-1].content.endswith("tests.")
        return {"text": HIDDEN if guess else "yes", "delay_s": 0.01 if guess else 0.0}

    with pytest.warns(Caution):
        report = await measured(flow, reply)
    assert len(report.document()["leaks"]) == 2


async def test_a_question_without_hidden_tests_is_not_looked_at() -> None:
    report = await measured(asking(HIDDEN), tests=None)
    assert "leaks" not in report.document()
    assert report.usable
