"""The public sets beside the checkout: they open, and every reference is graded right."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from treadle.ledger.run import Run
from treadle.tasks.gold import check_gold
from treadle.tasks.open import open_task
from treadle.tasks.scorers.math import MathScorer
from treadle.tasks.task import Task

pytestmark = pytest.mark.shared

SETS = {
    "gsm8k:gsm8k/gsm8k.jsonl": (500, "gsm8k"),
    "gsm8k:gsm8k/gsm8k.jsonl?grader=official": (500, "gsm8k?grader=official"),
    "math:math/math.jsonl": (250, "math"),
    "bbh:bbh/boolean_expressions.jsonl": (120, "label"),
    "bbh:bbh/date_understanding.jsonl": (120, "choice"),
    "bbh:bbh/logical_deduction_three_objects.jsonl": (120, "choice"),
    "bbh:bbh/object_counting.jsonl": (120, "numeric"),
    "bbh:bbh/tracking_shuffled_objects_three_objects.jsonl": (120, "choice"),
    "bbh:bbh/word_sorting.jsonl": (120, "words"),
    "drop:drop/drop.jsonl": (200, "f1"),
    "hotpotqa:hotpotqa/hotpotqa.jsonl": (80, "f1"),
    "jsonl:math/math.jsonl?input=problem&target=answer&scorer=math&group=subject": (250, "math"),
}


@pytest.mark.parametrize("spec", SETS)
async def test_every_reference_is_graded_right(shared_data: Path, spec: str) -> None:
    task = open_task(spec, folder=shared_data)
    size, scorer = SETS[spec]
    assert (len(task.samples), task.scorer.name) == (size, scorer)
    report = await check_gold(task)
    assert (report.checked, report.bad) == (size, ())
    split = task.split
    assert all((split.search, split.selection, split.test))
    assert all(task.scorer.same(shown, shown) for shown in (task.scorer.show(sample.target) for sample in task.samples))


def test_no_target_and_no_solution_reaches_a_workflow(shared_data: Path) -> None:
    for spec in SETS:
        task = open_task(spec, folder=shared_data)
        for sample in task.samples[:20]:
            fields = task.problem(sample).fields
            assert not {"answer", "answers", "target", "completion", "supporting_facts"} & set(fields)
            assert spec.startswith("jsonl:") or "solution" not in fields


def test_questions_about_one_passage_stay_together(shared_data: Path) -> None:
    task = open_task("drop:drop/drop.jsonl", folder=shared_data)
    assert len({sample.group for sample in task.samples}) == 161


async def test_mathematical_references_equal_themselves_and_not_each_other(shared_data: Path) -> None:
    task = open_task("math:math/math.jsonl", folder=shared_data)
    targets = list(dict.fromkeys(str(sample.target) for sample in task.samples))
    pairs = list(zip(targets, targets[7:] + targets[:7], strict=True))
    equal = {pair for pair in pairs if await _equal(task, *pair)}
    assert equal == {pair for pair in pairs if await _equal(task, *pair[::-1])}
    assert equal <= {(r"\frac43", r"\frac{4}{3}"), ("40", "40_9")}


async def _equal(task: Task, target: str, answer: str) -> bool:
    sample = next(sample for sample in task.samples if sample.target == target)
    score = await MathScorer().score(sample, rf"\boxed{{{answer}}}", cast(Run, None))
    return score.value == 1
