"""Parts taken out one by one: what matters is needed, what does not is dead, what is lean is shown to be as good."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from random import Random
from typing import Any

import pytest

from treadle import api, api_sync
from treadle.errors import UnknownNameError, UserError
from treadle.evaluation.ablation import ablate
from treadle.evaluation.ablation_estimate import estimate_ablation
from treadle.evaluation.compare import compare
from treadle.evaluation.measuring import Progress
from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.tasks.base import Sample
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import Ranker
from treadle.workflows.archon.components.verifier import Verifier
from treadle.workflows.archon.structure import Archon
from treadle.workflows.archon.workflow import archon_workflow
from treadle.workflows.registry import open_workflow
from treadle.workflows.weakening import divide

TASK = Task("made", tuple(Sample(f"q{i}", f"say w{i}", f"w{i}") for i in range(100)), ExactScorer())
WIDE = 5.0
"""A margin at which 100 questions can show that something is dead."""
FUNNEL = "archon:4g > v > r1"
COUNT, VERIFIER, RANKER = "layer 1: 4 generators -> 2", "layer 2: verifier (v)", "layer 3: ranker (r1)"


@dataclass(frozen=True)
class Players:
    """One model for all roles: drafts are right in 45 % of draws, in 90 % where they are asked to be wise."""

    ranks: str = "best"
    verifies: bool = False

    def __call__(self, request: Request) -> str:
        said = "\n".join(message.content for message in request.messages)
        last, word = request.messages[-1].content, re.findall(r"say (w\d+)", said)[0]
        shown = [answer == word for answer in re.findall(r"<candidate_\d+>\s*draft \d+\s*Answer: (\w+)", said)]
        if "Verdict:" in last:
            return f"Verdict: {'correct' if shown[0] or not self.verifies else 'incorrect'}"
        if "Ranking:" in last:
            wanted = {"best": True, "worst": False}.get(self.ranks, shown[0])
            return f"Ranking: {shown.index(wanted) + 1 if wanted in shown else 1}"
        if "Check the candidate" in last:
            return "I have looked at it."
        lucky = Random(f"{word} {request.draw}").random() < (0.9 if "wise" in last else 0.45)
        return f"draft {request.draw}\nAnswer: {word if lucky else f'no{request.draw}'}"


def by_name(document: dict[str, Any]) -> dict[str, Any]:
    return {part["part"]: part for part in document["parts"]}


async def test_a_ranker_that_chooses_is_needed_and_a_verifier_that_nods_is_dead() -> None:
    async with scripted_session(Players()) as session:
        document = (await ablate(session, FUNNEL, TASK, margin=WIDE)).document()
    parts = by_name(document)
    assert list(parts) == [COUNT, VERIFIER, RANKER]
    verifier, ranker = parts[VERIFIER], parts[RANKER]
    assert (verifier["dead"], verifier["without"], verifier["difference"]) == (True, "no difference", 0.0)
    assert verifier["saves"]["calls"] == 8
    assert (ranker["dead"], ranker["without"]) == (False, "worse")
    assert ranker["difference"] > 25
    assert ranker["ci95"][0] > 0
    assert ranker["p_value"] < 0.001
    lean = document["lean"]
    assert (lean["workflow"], lean["without"]) == ("archon:4g>r1", [VERIFIER])
    assert lean["score"] == document["whole"]["score"]
    assert (lean["per_sample"]["calls"], document["whole"]["per_sample"]["calls"]) == (5, 13)
    assert [layer[0]["type"] for layer in lean["structure"]["layers"]] == ["generator", "ranker"]
    assert (document["ended_by"], document["message"]) == ("done", "")


async def test_differences_are_those_of_a_comparison_and_p_values_are_corrected() -> None:
    async with scripted_session(Players()) as session:
        document = (await ablate(session, FUNNEL, TASK)).document()
        run = document["run"]
        alone = (await compare(session, f"{run}/{document['workflow']}", f"{run}/archon:2g>v>r1")).document()
    count = by_name(document)[COUNT]
    assert count["difference"] == pytest.approx(alone["difference"])
    assert alone["p_value"] < count["p_value"] < 0.05
    assert count["ci95"][0] < alone["ci95"][0] < alone["ci95"][1] < count["ci95"][1]


async def test_calls_are_shared_and_a_second_ablation_pays_nothing() -> None:
    async with scripted_session(Players()) as session:
        first = await ablate(session, FUNNEL, TASK, limit=20)
        second = await ablate(session, FUNNEL, TASK, limit=20)
    assert first.spent["calls_paid"] < first.spent["calls_logical"] / 2
    assert second.spent["calls_paid"] == 0
    assert [found.row.score for found in second.parts] == [found.row.score for found in first.parts]


async def test_parts_that_are_dead_alone_but_not_together_are_put_back() -> None:
    async with scripted_session(Players(verifies=True)) as session:
        report = await ablate(session, "archon:4g > v > r1", TASK, margin=WIDE)
    parts = by_name(report.document())
    assert parts[VERIFIER]["dead"]
    assert parts[RANKER]["dead"]
    assert report.lean is not None
    assert report.lean.parts == (VERIFIER,)
    assert report.lean.row.score == report.whole.score


async def test_a_part_that_does_harm_is_dead() -> None:
    async with scripted_session(Players(ranks="worst")) as session:
        report = await ablate(session, "archon:4g > r1", TASK)
    harmful = by_name(report.document())["layer 2: ranker (r1)"]
    assert (harmful["without"], harmful["dead"]) == ("better", True)
    assert harmful["difference"] < -25
    assert report.lean is not None
    assert report.lean.left.name == "archon:g"


async def test_a_dead_part_that_costs_less_than_it_spares_stays() -> None:
    async with scripted_session(Players(ranks="first")) as session:
        report = await ablate(session, "archon:4g > r1 > v", TASK, margin=WIDE)
    parts = by_name(report.document())
    assert parts["layer 2: ranker (r1)"]["dead"]
    assert parts["layer 2: ranker (r1)"]["saves"]["calls"] < 0
    assert report.lean is not None
    assert report.lean.left.name == "archon:2g>r1"


async def test_inconclusive_is_not_dead_and_the_margin_that_would_do_is_told() -> None:
    async with scripted_session(Players()) as session:
        small = await ablate(session, FUNNEL, TASK, limit=30)
        assert small.least_margin is not None
        wider = await ablate(session, FUNNEL, TASK, limit=30, margin=small.least_margin + 0.1)
    verifier = by_name(small.document())[VERIFIER]
    assert (verifier["difference"], verifier["without"], verifier["dead"]) == (0.0, "inconclusive", False)
    assert small.document()["lean"] is None
    assert by_name(wider.document())[VERIFIER]["dead"]


async def test_settings_of_a_named_workflow_are_its_parts() -> None:
    async with scripted_session(Players()) as session:
        report = await ablate(session, "self-consistency?n=9", TASK, limit=40, repeat=2)
    document = report.document()
    (votes,) = document["parts"]
    assert (votes["part"], votes["workflow"]) == ("n 9 -> 5", "self-consistency?n=5")
    assert (votes["without"], votes["dead"], votes["saves"]["calls"]) == ("worse", False, 4)
    assert votes["difference"] == pytest.approx(100 * (document["whole"]["score"] - votes["score"]))
    assert document["lean"] is None


async def test_own_prompts_are_parts_and_no_name_holds_them() -> None:
    asked = Generator(samples=2, prompt="Be wise.")
    workflow = archon_workflow(Archon(((asked,), (Verifier(),), (Ranker(top_k=1),))))
    async with scripted_session(Players(ranks="first")) as session:
        report = await ablate(session, workflow, TASK, margin=WIDE)
    parts = by_name(report.document())
    assert parts["layer 1: own prompt (generator)"]["without"] == "worse"
    assert parts[VERIFIER]["dead"]
    assert report.lean is not None
    assert not report.lean.reopens
    assert report.lean.structure is not None
    assert report.lean.structure.components[0] == replace(asked, samples=1)


async def test_a_budget_keeps_what_is_measured_and_judges_it() -> None:
    async with scripted_session(Players()) as session:
        paid = (await ablate(session, FUNNEL, TASK, margin=WIDE)).spent["calls_paid"]
    async with scripted_session(Players()) as session:
        report = await ablate(session, FUNNEL, TASK, margin=WIDE, budget=Budget(calls=paid - 1), concurrency=1)
    document = report.document()
    parts = by_name(document)
    assert document["ended_by"] == "budget"
    assert str(paid) in document["message"]
    assert (parts[COUNT]["difference"], parts[COUNT]["dead"]) == (None, False)
    assert (parts[VERIFIER]["dead"], parts[RANKER]["without"]) == (True, "worse")
    assert document["lean"] is None


async def test_an_interrupt_keeps_what_is_measured() -> None:
    async with scripted_session(Players()) as session:

        def watch(progress: Progress) -> None:
            if progress.done == 2 * len(TASK.samples) + 10:
                session.interrupt()

        report = await ablate(session, FUNNEL, TASK, concurrency=1, watch=watch)
    document = report.document()
    parts = by_name(document)
    assert (document["ended_by"], document["lean"]) == ("interrupt", None)
    assert (parts[COUNT]["without"], parts[VERIFIER]["difference"]) == ("worse", None)
    assert parts[VERIFIER]["saves"] == {"calls": None, "usd": None, "seconds": None, "tokens": None}


async def test_too_many_provider_failures_leave_no_verdict() -> None:
    def failing(request: Request) -> str:
        if "Ranking:" in request.messages[-1].content and re.search(r"say w\d*0\b", request.messages[-1].content):
            raise RuntimeError("down")
        return Players()(request)

    async with scripted_session(failing) as session:
        report = await ablate(session, FUNNEL, TASK, margin=WIDE)
    document = report.document()
    assert document["ended_by"] == "infra"
    assert "10%" in document["message"]
    assert {(part["without"], part["dead"]) for part in document["parts"]} == {(None, False)}
    assert document["lean"] is None


async def test_progress_goes_on_through_the_lean_workflow() -> None:
    seen: list[Progress] = []
    async with scripted_session(Players(ranks="first")) as session:
        report = await ablate(session, FUNNEL, TASK, margin=WIDE, watch=seen.append)
    assert report.lean is not None
    assert report.lean.left.name == "archon:g"
    assert [each.done for each in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].total == len(seen) == 5 * len(TASK.samples)


async def test_an_estimate_bounds_what_is_paid_and_knows_what_is_shared() -> None:
    async with scripted_session(Players(ranks="first")) as session:
        divided = divide(open_workflow(FUNNEL, folder=Path()))
        recording = await session.record("ablate", cast=Cast(("m",)))
        found = estimate_ablation(divided, TASK.limit(20), recording)
        report = await ablate(session, FUNNEL, TASK, limit=20)
    assert report.spent["calls_paid"] == found.shared_calls
    assert found.cost.calls.high is not None
    assert found.cost.calls.low <= report.spent["calls_paid"] <= found.cost.calls.high
    assert (found.structures.low, found.samples.low) == (4, 20)
    assert found.least_margin == pytest.approx(report.least_margin)


async def _own(problem: Problem, run: Run) -> str:
    return (await run.ask(problem)).text


@pytest.mark.parametrize(
    ("workflow", "options", "error", "words"),
    [
        ("single", {}, UserError, "single has no part.*treadle compare"),
        (_own, {}, UserError, "function of your own"),
        ("singel", {}, UnknownNameError, "single"),
        ("archon:2x > f", {}, UserError, "unknown component"),
        ("archon:2g(1,2) > f", {}, UserError, "only one model is given"),
        (FUNNEL, {"margin": -1}, UserError, "0 points or more"),
        (FUNNEL, {"margin": nan}, UserError, "0 points or more"),
        (FUNNEL, {"repeat": 0}, UserError, "repeat"),
        (FUNNEL, {"models": ["nobody"]}, UserError, "nobody"),
        (FUNNEL, {"limit": 0}, UserError, "limit"),
    ],
)
async def test_mistakes_are_told_before_anything_is_asked(
    workflow: Any, options: dict[str, Any], error: type[UserError], words: str
) -> None:
    def never(request: Request) -> str:
        pytest.fail("a model was asked")

    async with scripted_session(never) as session:
        with pytest.raises(error, match=words):
            await ablate(session, workflow, TASK, **options)


async def test_programs_ask_through_the_api() -> None:
    async with scripted_session(Players()) as session:
        report = await api.ablate(FUNNEL, task=TASK, session=session, limit=10)
        assert len(report.parts) == 3
        with pytest.raises(UserError, match=r"await treadle\.api\.ablate"):
            api_sync.ablate_sync(FUNNEL, task=TASK, session=session)
