"""What a workflow sees of a task, and what it never sees."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from treadle.errors import DatasetError, UserError
from treadle.models.base import Message
from treadle.tasks.base import Sample
from treadle.tasks.scorers.numeric import NumericScorer
from treadle.tasks.split import Split
from treadle.tasks.task import Task


def sums(count: int, group_size: int = 1) -> Task:
    rows = [
        Sample(f"q{number}", f"{number}+0?", number, str(number // group_size), hidden={"solution": "secret"})
        for number in range(count)
    ]
    return Task("sums", tuple(rows), NumericScorer(answer_format="End with a number."))


def shown(task: Task, sample: Sample) -> set[str]:
    return {question for question, _ in task.problem(sample).examples}


def inputs(part: tuple[Sample, ...]) -> set[str]:
    return {sample.input for sample in part}


def test_a_problem_is_its_question_and_carries_what_the_task_offers() -> None:
    task = sums(30)
    problem = task.problem(task.samples[4])
    assert problem == "4+0?"
    assert problem.id == "q4"
    assert problem.messages == (Message("user", "4+0?"),)
    assert problem.answer_format == "End with a number."
    assert problem.same("Answer: 4", "so 4.0")
    assert "secret" not in repr(vars(problem))


def test_chat_turns_and_public_fields_are_kept() -> None:
    turns = (Message("user", "hi"), Message("assistant", "yes?"), Message("user", "1+1?"))
    task = Task("chat", (Sample("a", "1+1?", 2, messages=turns, fields={"level": 3}),), NumericScorer())
    problem = task.problem(task.samples[0])
    assert problem.messages == turns
    assert problem.fields == {"level": 3}


def test_examples_are_search_rows_only() -> None:
    task = sums(100)
    search = inputs(task.split.search)
    for sample in (*task.split.selection, *task.split.test):
        assert shown(task, sample) == search


@pytest.mark.parametrize("group_size", [1, 5])
def test_examples_of_a_search_row_leave_out_its_group(group_size: int) -> None:
    task = sums(200, group_size)
    search = task.split.search
    for sample in search:
        group = {other.input for other in search if other.group == sample.group}
        assert not shown(task, sample) & group
        assert shown(task, sample) <= inputs(search) - group
        assert len(shown(task, sample)) >= len(search) * 0.8
    assert ("4+0?", "4") in task.problem(task.split.test[0]).examples or "4+0?" not in inputs(search)


def test_a_tiny_task_has_no_examples() -> None:
    task = sums(2)
    assert task.problem(task.samples[0]).examples == ()
    with pytest.raises(UserError):
        _ = task.split


def test_ten_thousand_problems_are_cheap_and_share_their_examples() -> None:
    task = sums(10_000)
    before = time.process_time()
    problems = [task.problem(sample) for sample in task.samples]
    assert time.process_time() - before < 2
    assert len({id(problem.examples) for problem in problems}) < 20


def test_a_limited_task_keeps_the_split_of_the_whole() -> None:
    task = sums(100)
    limited = task.limit(60)
    assert [sample.id for sample in limited.samples] == [f"q{number}" for number in range(60)]
    assert limited.split_seed == task.split_seed
    assert limited.hash != task.hash
    kept = {sample.id for sample in limited.samples}
    moved = {sample.id for sample in limited.split.test} - {
        sample.id for sample in task.split.test if sample.id in kept
    }
    assert len(moved) <= 8
    assert task.limit(100) is task
    with pytest.raises(UserError, match="limit of 0"):
        task.limit(0)


def test_the_hash_is_of_the_data_alone() -> None:
    task = sums(10)
    assert replace(task, name="other", scorer=NumericScorer(0.5)).hash == task.hash
    changed = (*task.samples[:-1], replace(task.samples[-1], hidden={"solution": "another"}))
    assert replace(task, samples=changed).hash != task.hash
    assert Task("x", (Sample("a", "", fields={"x": 1, "y": 2}),), task.scorer).hash == (
        Task("x", (Sample("a", "", fields={"y": 2, "x": 1}),), task.scorer).hash
    )


def test_no_samples_and_double_ids_are_refused() -> None:
    with pytest.raises(DatasetError, match="no samples"):
        Task("empty", (), NumericScorer())
    with pytest.raises(DatasetError, match="'a' stands on lines 1 and 3"):
        Task("double", (Sample("a", "", line=1), Sample("b", "", line=2), Sample("a", "", line=3)), NumericScorer())


def test_dropped_samples_are_listed_and_the_split_seed_stays() -> None:
    task = sums(20)
    left = task.without(("q3", "q5"))
    assert left.dropped == ("q3", "q5")
    assert len(left.samples) == 18
    assert left.split_seed == task.split_seed
    assert isinstance(left.split, Split)
    with pytest.raises(DatasetError, match="no sample is left"):
        task.without(tuple(sample.id for sample in task.samples))
