"""Hidden tests that stand in a prompt are found, and a model's own guess is none."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from treadle.errors import Caution, TruncatedError
from treadle.evaluation.evaluate import evaluate
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.parsing.asserts import asserts
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
CLOSE = CodeTests(("assert abs(shout(7.5, 'loud') - 314.15) < 1e-6",), ("shout",))
TRUTH = CodeTests(("assert is_shout('Hey!')", "assert not is_shout('whisper')"), ("is_shout",))
STEPS = CodeTests(("s = Stack()\ns.push(1); s.push(2)\nassert len(s) == 2 and s.pop() == 2",), ("Stack",))
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
        (PLAIN, "shout('hello') -> 'HELLO!'", "shout('hello') == 'HELLO!'"),
        (PLAIN, "shout('hello') should return 'HELLO!'", "shout('hello') == 'HELLO!'"),
        (PLAIN, ">>> shout('hello')\n'HELLO!'", "shout('hello') == 'HELLO!'"),
        (PLAIN, "assert 'HELLO!' == shout('hello')", "shout('hello') == 'HELLO!'"),
        (PLAIN, '{"input": "shout(\'hello\')", "output": "HELLO!"}', "shout('hello') == 'HELLO!'"),
        (CHECKED, "shout('hello') gives 'HELLO!'", "candidate('hello') == 'HELLO!'"),
        (CLOSE, "shout(7.5, 'loud') -> 314.15", "abs(shout(7.5, 'loud') - 314.15) < 1e-6"),
        (TRUTH, "is_shout('Hey!') should be True", "is_shout('Hey!')"),
        (TRUTH, "is_shout('whisper') is False", "not is_shout('whisper')"),
        (STEPS, f"It must pass: {STEPS.tests}", "len(s) == 2 and s.pop() == 2"),
        (STEPS, f"It must pass: {'; '.join(STEPS.tests[0].splitlines())}", "len(s) == 2 and s.pop() == 2"),
        (STEPS, "- s = Stack()\n- assert len(s) == 2 and s.pop() == 2", "len(s) == 2 and s.pop() == 2"),
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
    "prompt",
    [
        PUBLIC,
        "assert shout('b') == 'B!'",
        "def check(candidate):",
        "HELLO!",
        "shout(*a) is called",
        "shout('hello there') -> 'HELLO!'",
        "shout('hello')" + " and much else that is said of it" * 3 + " HELLO!",
    ],
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


async def test_branches_that_were_all_sent_a_test_do_not_excuse_each_other() -> None:
    async def flow(problem: Problem, run: Run) -> str:
        answers = await run.gather(run.ask(f"{problem} {HIDDEN}", draw=draw) for draw in range(3))
        return answers[1].text

    with pytest.warns(Caution):
        report = await measured(flow, lambda request: f"I see {HIDDEN}")
    assert len(report.document()["leaks"]) == 2


async def test_a_reply_that_comes_after_a_prompt_does_not_excuse_it() -> None:
    async def flow(problem: Problem, run: Run) -> str:
        await run.child("first").ask(f"{problem} {HIDDEN}")
        return (await run.child("second").ask(f"{problem} Write tests.")).text

    with pytest.warns(Caution):
        report = await measured(flow, lambda request: HIDDEN)
    assert len(report.document()["leaks"]) == 2


@pytest.mark.parametrize("together", ["gather", "asyncio"])
@pytest.mark.parametrize("first", [True, False])
async def test_a_branch_may_be_handed_what_another_was_told(together: str, first: bool) -> None:
    async def flow(problem: Problem, run: Run) -> str:
        said: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def writes() -> str:
            said.set_result((await run.ask(f"{problem} Write tests.")).text)
            return ""

        async def reads() -> str:
            return (await run.ask(f"{problem} Check {await said}")).text

        both = [writes(), reads()] if first else [reads(), writes()]
        answers = await (run.gather(both) if together == "gather" else asyncio.gather(*both))
        return "".join(answers)

    report = await measured(flow, lambda request: HIDDEN if "Write tests." in request.messages[-1].content else "yes")
    assert report.document()["leaks"] == []


async def test_a_task_of_ones_own_may_write_the_tests() -> None:
    async def flow(problem: Problem, run: Run) -> str:
        said = (await asyncio.create_task(run.ask(f"{problem} Write tests."))).text  # pyright: ignore[reportArgumentType]
        return (await run.ask(f"{problem} {said}")).text

    report = await measured(flow, lambda request: HIDDEN if "Write tests." in request.messages[-1].content else "yes")
    assert report.document()["leaks"] == []


async def test_what_is_read_out_of_a_reply_was_said_though_written_otherwise() -> None:
    tests = CodeTests(("assert math.isclose(shout('big'), 314.15, rel_tol=0.001)",), ("shout",), setup="import math")

    async def flow(problem: Problem, run: Run) -> str:
        said = (await run.ask(f"{problem} Write tests.")).text
        (test,) = asserts(said, "shout", {"math"})
        return (await run.ask(f"{problem} {test}")).text

    def reply(request: Request) -> str:
        asked = request.messages[-1].content
        return "assert math.isclose(shout('big',), 314.15, rel_tol=1e-3,)" if asked.endswith("tests.") else "yes"

    report = await measured(flow, reply, tests)
    assert report.document()["leaks"] == []


async def test_the_value_that_a_call_of_the_models_own_came_to_is_none() -> None:
    async def flow(problem: Problem, run: Run) -> str:
        await run.ask(f"{problem} Write tests.")
        return (await run.ask(f"{problem} shout('hello') gave 'HELLO!', not 'HELLO'")).text

    def reply(request: Request) -> str:
        return "assert shout('hello') == 'HELLO'" if request.messages[-1].content.endswith("tests.") else "yes"

    report = await measured(flow, reply)
    assert report.document()["leaks"] == []


@pytest.mark.parametrize(
    "shown", [">>> shout('hello')\n'HELLO!'", "shout('hello') -> 'HELLO!'", "shout('hello') should return HELLO!"]
)
async def test_an_example_that_the_question_shows_is_none_however_it_is_written(shown: str) -> None:
    samples = (Sample("q", f"Write shout.\n{shown}", "yes", hidden={"tests": PLAIN}, entry_point="shout"),)
    async with scripted_session({"m": lambda request: "yes"}) as session:
        report = await evaluate(session, (asking(HIDDEN),), Task("t", samples, ExactScorer()))
    assert report.document()["leaks"] == []


@pytest.mark.parametrize("caps", [Budget(calls=1), None])
async def test_a_leak_counts_though_the_answer_never_came(caps: Budget | None) -> None:
    """One question is cut by its own cap, the other way the whole run's budget ends it: it stays unfinished."""
    budget = Budget(calls=1) if caps is None else None
    with pytest.warns(Caution):
        report = await measured(asking(HIDDEN, "go on"), caps=caps, budget=budget, concurrency=1)
    document = report.document()
    assert "q0" in {leak["sample"] for leak in document["leaks"]}
    status = report.rows[0].outcomes[0].status
    assert status == ("crash" if caps else "unfinished")
    assert not report.usable


async def test_a_call_whose_reply_was_cut_is_looked_at_too() -> None:
    async def flow(problem: Problem, run: Run) -> str:
        with contextlib.suppress(TruncatedError):
            await run.ask(f"{problem} {HIDDEN}")
        return "yes"

    def cut(request: Request) -> Any:
        return {"text": "x", "finish_reason": "length"}

    with pytest.warns(Caution):
        report = await measured(flow, cut)
    assert len(report.document()["leaks"]) == 2


async def test_a_question_without_hidden_tests_is_not_looked_at() -> None:
    report = await measured(asking(HIDDEN), tests=None)
    assert "leaks" not in report.document()
    assert report.usable
