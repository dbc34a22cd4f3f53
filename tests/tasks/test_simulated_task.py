"""Simulated questions, which simulated models answer with a stated skill."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.models.simulated import simulated_model
from treadle.tasks.gold import check_gold
from treadle.tasks.open import open_task
from treadle.tasks.simulated import simulated_models

HERE = Path()
NO_RUN = cast(Run, None)


async def test_the_parts_have_their_sizes_and_the_name_says_simulated() -> None:
    task = open_task("simulated:llm?seed=3", folder=HERE)
    split = task.split
    assert (len(split.search), len(split.selection), len(split.test)) == (40, 30, 60)
    assert task.name == "simulated:llm?seed=3"
    assert "simulated" in task.samples[0].input
    report = await check_gold(task)
    assert (report.checked, report.bad) == (130, ())


def test_options_change_the_set() -> None:
    task = open_task("simulated:llm?search=4&selection=3&test=6&answers=5&spread=1", folder=HERE)
    split = task.split
    assert (len(split.search), len(split.selection), len(split.test)) == (4, 3, 6)
    assert {str(sample.target) for sample in task.samples} <= set("ABCDE")
    assert task.hash != open_task("simulated:llm?seed=2", folder=HERE).hash


async def test_a_simulated_model_is_as_good_as_its_skill_says() -> None:
    task = open_task("simulated:llm?seed=5&test=310", folder=HERE)
    model = simulated_model("llm?skill=0.8&seed=5")
    total = 0.0
    for sample in task.samples:
        completion = await model.complete(Request("m", task.problem(sample).messages))
        total += (await task.scorer.score(sample, completion.text, NO_RUN)).value
    assert total / len(task.samples) == pytest.approx(0.8, abs=0.08)


async def test_a_simulated_reply_without_an_answer_is_a_format_failure() -> None:
    task = open_task("simulated:llm", folder=HERE)
    model = simulated_model("llm?format_rate=1")
    completion = await model.complete(Request("m", task.problem(task.samples[0]).messages))
    assert (await task.scorer.score(task.samples[0], completion.text, NO_RUN)).failure == "format"


def test_a_simulation_brings_its_models() -> None:
    assert simulated_models("simulated:llm?seed=4")[0] == "simulated:strong?skill=0.8&seed=4"
    assert len(simulated_models("simulated:archon")) == 10
