"""The task of the simulated surface: its grades, and true scores that agree with what the ledger measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from treadle.errors import UnknownNameError, UserError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.report import Row
from treadle.ledger.run import Run
from treadle.models.simulated_marks import Mark
from treadle.search.spaces.archon import ArchonSpace
from treadle.search.spaces.dials import PRESETS
from treadle.tasks.gold import check_gold
from treadle.tasks.open import open_task
from treadle.tasks.simulated import simulated_models
from treadle.tasks.simulated_archon import SimulatedArchonTask
from treadle.testing.sessions import scripted_session
from treadle.workflows.archon.one_line import parse_one_line
from treadle.workflows.registry import open_workflow

HERE = Path()
NO_RUN = cast(Run, None)
SPEC = "simulated:archon?seed=3"
MODELS = simulated_models(SPEC)
LINES = (
    "3g(1,2,9)>f(9)",
    "6g(1,2,3)>c(1)>r3(1)>4f(1,2,3,4)>f(1)",
    "6g(1,2)>v(1)>f(1)",
    "6g(1)>u(1)>e2(2)",
    "4g(1,2)>c(3)>p2(2)>f(2)",
)


def surface(spec: str = SPEC) -> SimulatedArchonTask:
    task = open_task(spec, folder=HERE)
    assert isinstance(task, SimulatedArchonTask)
    return task


def true(task: SimulatedArchonTask, workflow: str, models: Sequence[str] = MODELS) -> float:
    score = task.true_score(open_workflow(workflow, folder=HERE), models)
    assert score is not None
    return score


async def measured(task: SimulatedArchonTask, workflows: Sequence[str], models: Sequence[str]) -> Sequence[Row]:
    async with scripted_session({}) as session:
        return (await evaluate(session, workflows, task=task, models=models)).rows


class TestTask:
    async def test_the_parts_have_their_sizes_and_its_own_references_are_right(self) -> None:
        task = surface()
        split = task.split
        assert (len(split.search), len(split.selection), len(split.test)) == (40, 30, 60)
        assert (await check_gold(task)).bad == ()
        assert "simulated" in task.samples[0].input

    async def test_only_a_mark_of_this_question_is_graded(self) -> None:
        task = surface()
        first, second = task.samples[:2]
        good = f"{Mark(first.id, 1.0, 0.0)}\nAnswer: B"
        score = await task.scorer.score(first, good, NO_RUN)
        assert score.value == pytest.approx(0.8413, abs=1e-4)
        assert (await task.scorer.score(first, score.answer, NO_RUN)).value == score.value
        assert (await task.scorer.score(second, good, NO_RUN)).failure == "format"
        assert (await task.scorer.score(first, "Answer: B", NO_RUN)).failure == "format"

    def test_votes_compare_letters(self) -> None:
        same, mark = surface().scorer.same, Mark("simulated-3-0", 0.5, 0.5)
        assert same(f"{mark}\nAnswer: A", f"{Mark('simulated-3-0', -1.0, 0.0)}\nAnswer: A")
        assert not same(f"{mark}\nAnswer: A", f"{mark}\nAnswer: B")
        assert not same("Answer: A", "Answer: A")

    def test_it_brings_ten_models_with_its_own_parameters(self) -> None:
        models = simulated_models("simulated:archon?shared=0.4&seed=5&search=10")
        assert models[0] == "simulated:archon/1?seed=5&shared=0.4"
        assert len(set(models)) == 10
        assert simulated_models("simulated:archon-null")[9] == "simulated:archon-null/10?seed=1"

    @pytest.mark.parametrize("option", ["skil=1", "shared=2", "seed=x", "search=0", "answers=1"])
    def test_an_option_that_cannot_be_is_refused(self, option: str) -> None:
        with pytest.raises((UserError, UnknownNameError)):
            open_task(f"simulated:archon?{option}", folder=HERE)


class TestTruth:
    async def test_what_the_ledger_measures_is_the_true_score(self) -> None:
        task = surface(f"{SPEC}&search=150")
        names = ["single", "self-consistency?n=5", *(f"archon:{line}" for line in LINES)]
        rows = await measured(task, names, MODELS)
        scores = [np.array(list(row.question_scores().values())) for row in rows]
        base, known = scores[0], true(task, "single")
        for name, found in zip(names[1:], scores[1:], strict=True):
            error = float((found - base).std()) / math.sqrt(len(found))
            assert found.mean() - base.mean() == pytest.approx(true(task, name) - known, abs=3.5 * error), name
            assert error < 0.03
        assert base.mean() == pytest.approx(known, abs=3.5 * float(base.std()) / math.sqrt(len(base)))

    def test_structures_score_together_what_they_score_alone(self) -> None:
        task = surface()
        structures = [parse_one_line(line) for line in LINES]
        together = task.true_scores(structures, MODELS)
        alone = [float(surface().true_scores([structure], MODELS)[0]) for structure in structures]
        assert together == pytest.approx(alone, abs=1e-6)
        assert [true(task, f"archon:{line}") for line in LINES] == pytest.approx(alone, abs=1e-6)

    def test_structures_differ_and_the_best_beats_votes_of_equal_cost(self) -> None:
        task = surface()
        space = ArchonSpace("archon", PRESETS["archon"], tuple(range(1, 11)))
        chosen = [space.structure(point) for point in space.points[::37]]
        scores = 100 * task.true_scores(chosen, MODELS)
        best = int(scores.argmax())
        calls = [structure.count() for structure in chosen]
        assert scores.max() - scores.min() > 15
        assert (scores > scores.max() - 1).mean() < 0.05
        assert scores.max() > 100 * true(task, f"self-consistency?n={calls[best]}") + 6
        assert min(calls) < calls[best] < max(calls)
        single = 100 * true(task, "single")
        assert 45 < single < 55
        assert single < 100 * true(task, "self-consistency?n=5") < single + 5

    def test_the_best_structure_of_another_seed_is_another(self) -> None:
        space = ArchonSpace("archon", PRESETS["archon"], tuple(range(1, 11)))
        chosen = [space.structure(point) for point in space.points[::101]]
        best: set[int] = set()
        for seed in (2, 3):
            spec = f"simulated:archon?seed={seed}"
            best.add(int(surface(spec).true_scores(chosen, simulated_models(spec)).argmax()))
        assert len(best) == 2

    def test_what_it_cannot_know_is_none(self) -> None:
        task = surface()
        assert task.true_score(open_workflow("debate", folder=HERE), MODELS) is None
        assert task.true_score(open_workflow("single", folder=HERE), ["openai:x"]) is None
        assert task.true_score(open_workflow("archon:2g(1)>f", folder=HERE), ["openai:x"]) is None


class TestNull:
    async def test_everything_has_one_true_score_and_measures_it(self) -> None:
        spec = "simulated:archon-null?seed=3&search=110"
        task, models = surface(spec), simulated_models(spec)
        names = ["single", "self-consistency?n=5", *(f"archon:{line}" for line in LINES[1:4])]
        assert len({true(task, name, models) for name in names}) == 1
        base, *others = [np.array(list(row.question_scores().values())) for row in await measured(task, names, models)]
        assert base.mean() == pytest.approx(true(task, "single", models), abs=0.08)
        for found in others:
            error = float((found - base).std()) / math.sqrt(len(found))
            assert found.mean() - base.mean() == pytest.approx(0, abs=3 * error)
