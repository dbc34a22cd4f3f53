"""Several tasks as one."""

from __future__ import annotations

from typing import cast

import pytest

from treadle.errors import Caution
from treadle.ledger.run import Run
from treadle.tasks.base import Sample
from treadle.tasks.joined import join_tasks
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.scorers.numeric import NumericScorer
from treadle.tasks.task import Task


def numbered(name: str, count: int) -> Task:
    return Task(name, tuple(Sample(f"q{n}", f"{name} {n}?", n) for n in range(count)), NumericScorer())


async def test_every_sample_keeps_its_scorer() -> None:
    texts = Task("texts", tuple(Sample(f"q{n}", f"text {n}?", f"t{n}") for n in range(10)), ExactScorer())
    joined = join_tasks([numbered("sums", 10), texts])
    assert len(joined.samples) == 20
    first, last = joined.samples[0], joined.samples[-1]
    assert (first.id, last.id) == ("1/q0", "2/q9")
    assert (await joined.scorer.score(first, "Answer: 0.0", cast(Run, None))).value == 1
    assert (await joined.scorer.score(last, "Answer: T9", cast(Run, None))).value == 1
    assert joined.problem(first).same("4", "Answer: 4.0")
    assert joined.problem(last).id == "2/q9"


def test_examples_are_never_test_rows_of_the_whole() -> None:
    joined = join_tasks([numbered("sums", 40), numbered("more", 40)])
    split = joined.split
    assert (len(split.search), len(split.selection), len(split.test)) == (24, 16, 40)
    search = {sample.input for sample in split.search}
    for sample in joined.samples:
        examples = joined.problem(sample).examples
        assert examples
        assert {question for question, _ in examples} <= search


def test_tasks_of_other_sizes_weigh_the_same_in_every_part() -> None:
    with pytest.warns(Caution, match="20 questions of each task are used"):
        joined = join_tasks([numbered("sums", 40), numbered("more", 20)])
    split = joined.split
    for part, size in ((split.search, 6), (split.selection, 4), (split.test, 10), (joined.samples, 20)):
        names = [joined.origins[sample.id] for sample in part]
        assert names == ["sums"] * size + ["more"] * size


def test_one_task_stays_as_it_is() -> None:
    task = numbered("sums", 3)
    assert join_tasks([task]) is task
