"""Comparing what was measured: paired, on the same questions, with a verdict or none."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from treadle.errors import UnknownNameError, UserError
from treadle.evaluation.ask import ask
from treadle.evaluation.baseline import baseline
from treadle.evaluation.compare import compare
from treadle.evaluation.estimate import estimate
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.preparing import prepare_cast, prepare_workflows
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.models.base import Request
from treadle.tasks.base import Sample
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.scorers.f1 import F1Scorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session

TASK = Task("made", tuple(Sample(f"q{i}", f"say w{i}", f"w{i}", group=f"g{i // 2}") for i in range(60)), ExactScorer())


def skilled(request: Request) -> str:
    """Right in 90 % with chain of thought, in 30 % without; down where it is told to be."""
    text = request.messages[-1].content
    word = text.split("say ")[1].split()[0]
    chance = 0.9 if "step by step" in text else 0.3
    return f"Answer: {word if Random(f'{text}{request.draw}').random() < chance else 'no'}"


async def measured(session: Session, *workflows: Any, **options: Any) -> str:
    return (await evaluate(session, workflows, TASK, **options)).run


async def test_two_rows_of_one_run() -> None:
    async with scripted_session(skilled) as session:
        run = await measured(session, "cot", "single")
        found = (await compare(session, f"{run}/cot", f"{run}/single")).document()
    assert found["a"] == f"{run}/cot"
    assert found["n"] == 60
    assert found["difference"] > 30
    assert found["ci95"][0] > 0
    assert found["p_value"] < 0.05
    assert found["verdict"] == "better"
    assert found["flipped"]


async def test_the_other_way_round_is_the_mirror_image() -> None:
    async with scripted_session(skilled) as session:
        run = await measured(session, "cot", "single")
        one = (await compare(session, f"{run}/cot", f"{run}/single")).document()
        other = (await compare(session, f"{run}/single", f"{run}/cot")).document()
    assert other["difference"] == pytest.approx(-one["difference"])
    assert other["p_value"] == one["p_value"]
    assert other["verdict"] == "worse"


async def test_a_run_against_itself_shows_no_difference() -> None:
    async with scripted_session(skilled) as session:
        run = await measured(session, "cot")
        found = (await compare(session, run, run)).document()
    assert (found["difference"], found["verdict"], found["flipped"]) == (0.0, "no difference", [])


async def test_workflows_are_measured_first_when_a_task_is_given() -> None:
    async with scripted_session(skilled) as session:
        found = (await compare(session, "cot", "single", task=TASK, repeat=2)).document()
    assert found["verdict"] == "better"
    assert found["a"].endswith("/cot")


async def test_provider_failures_leave_the_pairs_and_too_many_leave_no_verdict() -> None:
    def failing(share: int) -> Any:
        def reply(request: Request) -> str:
            if "step by step" in request.messages[-1].content and int(skilled_word(request)[1:]) % share == 0:
                raise RuntimeError("down")
            return skilled(request)

        return reply

    async with scripted_session(failing(30)) as session:
        run = await measured(session, "cot", "single")
        few = await compare(session, f"{run}/cot", f"{run}/single")
    assert few.document()["n"] == 58
    assert few.document()["verdict"] == "better"
    async with scripted_session(failing(4)) as session:
        run = await measured(session, "cot", "single")
        many = await compare(session, f"{run}/cot", f"{run}/single")
    assert many.ended_by == "infra"
    assert many.document()["verdict"] is None
    assert "25%" in many.message


def skilled_word(request: Request) -> str:
    return request.messages[-1].content.split("say ")[1].split()[0]


async def test_what_cannot_be_compared_is_said_in_words() -> None:
    async with scripted_session(skilled) as session:
        run = await measured(session, "cot", "single")
        with pytest.raises(UserError, match="several rows"):
            await compare(session, run, run)
        with pytest.raises(UnknownNameError, match=run):
            await compare(session, run[:-1], run)
        with pytest.raises(UnknownNameError, match="did you mean single"):
            await compare(session, f"{run}/singel", f"{run}/cot")
        other = Task("made", tuple(replace(s, input=f"please {s.input}") for s in TASK.samples), ExactScorer())
        elsewhere = (await evaluate(session, ["cot"], other)).run
        with pytest.raises(UserError, match="share no question"):
            await compare(session, f"{run}/cot", elsewhere)
        graded = Task("made", TASK.samples, F1Scorer())
        otherwise = (await evaluate(session, ["cot"], graded)).run
        with pytest.raises(UserError, match="only one scorer"):
            await compare(session, f"{run}/cot", otherwise)


async def test_baseline_says_what_to_start_from_and_what_is_noise() -> None:
    async with scripted_session(skilled) as session:
        report = await baseline(session, TASK, repeat=2)
    document = report.document()
    assert [row["workflow"] for row in document["results"]] == ["single", "cot", "self-consistency?n=5"]
    assert document["noise"]["points"] > 0
    verdicts = {row["workflow"]: row["verdict"] for row in document["comparisons"]}
    assert verdicts["cot"] == "better"
    text = " ".join(document["advice"])
    assert "100 to 200" in text
    assert "start from" in text
    assert "noise" in text


async def test_baseline_says_when_one_call_is_enough() -> None:
    async with scripted_session(lambda request: f"Answer: {skilled_word(request)}") as session:
        report = await baseline(session, TASK, repeat=2)
    assert "stop" in report.advice[-1]


async def test_baseline_needs_repeats() -> None:
    async with scripted_session(skilled) as session:
        with pytest.raises(UserError, match="repeat 2"):
            await baseline(session, TASK, repeat=1)


async def test_one_question_has_its_answer_its_cost_and_its_trace() -> None:
    async def two_steps(problem: Problem, run: Run) -> str:
        first = await run.child("draft").ask(problem)
        return (await run.ask(f"say {first.text.split()[-1]} again")).text

    async with scripted_session(skilled) as session:
        answer = await ask(session, two_steps, "say w1")
        document = answer.document()
        again = await session.journal.read(lambda store: store.run(answer.run))
    assert document["calls"]["logical"] == 2
    assert document["answer"].startswith("Answer:")
    assert [sorted(entry)[0] for entry in document["trace"]] == ["children", "cached"]
    assert document["trace"][0]["operator"] == "draft"
    assert again is not None
    assert again.ended_by == "done"


async def test_one_question_that_fails_says_why() -> None:
    def down(request: Request) -> str:
        raise RuntimeError("the cellar is flooded")

    async with scripted_session(down) as session:
        answer = await ask(session, "single", "say w1")
    assert (answer.ended_by, answer.status) == ("infra", "infra")
    assert "flooded" in answer.message


async def test_an_estimate_grows_with_everything_that_costs() -> None:
    async with scripted_session(skilled) as session:
        endpoint = session.endpoint("m")
        small = estimate(prepare_workflows(["single"]), TASK.samples[:10], endpoint)
        more = estimate(prepare_workflows(["single", "self-consistency?n=5"]), TASK.samples[:10], endpoint, repeats=2)
    assert (small.calls.low, small.calls.high) == (10, 10)
    assert (more.calls.low, more.calls.high) == (120, 120)
    assert small.usd is None
    assert more.tokens.low > small.tokens.low
    assert more.tokens.high is not None
    assert more.tokens.low < more.tokens.high
    judged = estimate(prepare_workflows(["single"]), TASK.samples[:10], endpoint, judged=True)
    assert (judged.calls.low, judged.calls.high) == (20, 50)


async def test_a_users_workflow_has_no_upper_bound() -> None:
    async def own(problem: Problem, run: Run) -> str:
        return (await run.ask(problem)).text

    async with scripted_session(skilled) as session:
        found = estimate(prepare_workflows([own]), TASK.samples, session.endpoint("m"))
    assert found.document()["calls"] == {"low": 60, "high": None}


async def test_two_functions_of_one_name_are_refused() -> None:
    def made() -> Any:
        async def own(problem: Problem, run: Run) -> str:
            return "x"

        return own

    with pytest.raises(UserError, match="two workflows are called"):
        prepare_workflows([made(), made()])


async def test_simulated_tasks_bring_their_models_and_others_do_not() -> None:
    async with scripted_session(skilled) as session:
        assert len(prepare_cast(session, "simulated:llm?seed=2", ["auto"]).models) == 3
        assert prepare_cast(session, "simulated:llm", ["mine"]).models == ("mine",)
    async with scripted_session({"one": skilled, "two": skilled}) as session:
        assert len(prepare_cast(session, "simulated:llm", []).models) == 3, "two models and no default name nobody"
        with pytest.raises(UserError, match="auto"):
            prepare_cast(session, "gsm8k:x.jsonl", ["auto"])
