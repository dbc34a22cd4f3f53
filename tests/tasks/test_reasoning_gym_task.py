"""Generated puzzles with their own verifiers, made and graded in a child process."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import cast

import pytest

from treadle.errors import ProviderError, UnknownNameError, UserError
from treadle.ledger.run import Run
from treadle.tasks.base import Sample
from treadle.tasks.gold import check_gold
from treadle.tasks.open import open_task
from treadle.tasks.scorers.worker import worker_pool
from treadle.tasks.task import Task

if importlib.util.find_spec("reasoning_gym") is None:
    pytest.skip("the tasks part is not installed", allow_module_level=True)

HERE = Path()


async def value(task: Task, sample: Sample, reply: str) -> float:
    return (await task.scorer.score(sample, reply, cast(Run, None))).value


@pytest.mark.parametrize("name", ["chain_sum", "countdown", "list_functions", "n_queens", "sudoku"])
async def test_every_reference_is_graded_right(name: str) -> None:
    task = open_task(f"reasoning-gym:{name}?size=4&seed=7", folder=HERE)
    report = await check_gold(task)
    assert (report.checked, report.bad) == (4, ())
    assert task.samples[0].id == f"{name}-0"


async def test_the_same_seed_makes_the_same_questions_in_another_process() -> None:
    spec = "reasoning-gym:list_functions?size=6&seed=3"
    first = open_task(spec, folder=HERE)
    worker_pool("reasoning-gym").close()
    again = open_task(spec, folder=HERE)
    assert first.hash == again.hash
    assert first.hash != open_task("reasoning-gym:list_functions?size=6&seed=4", folder=HERE).hash


async def test_answers_are_read_and_verified() -> None:
    task = open_task("reasoning-gym:countdown?size=2&min_numbers=3&max_numbers=3", folder=HERE)
    sample = task.samples[0]
    assert await value(task, sample, f"I think so. <answer>{sample.target}</answer>") == 1
    assert await value(task, sample, f"Answer: {sample.target}") == 1
    assert await value(task, sample, "<answer>1 + 1</answer>") < 0.5
    assert (await task.scorer.score(sample, "  ", cast(Run, None))).failure == "format"
    assert "<answer>" in task.scorer.answer_format


@pytest.mark.parametrize("name", ["countdown", "string_insertion", "spiral_matrix"])
async def test_an_answer_that_is_a_program_does_not_run(tmp_path: Path, name: str) -> None:
    task = open_task(f"reasoning-gym:{name}?size=1", folder=HERE)
    mark = tmp_path / "ran"
    attack = f"[__import__('pathlib').Path({str(mark)!r}).touch()]"
    assert await value(task, task.samples[0], f"<answer>{attack}</answer>") < 0.5
    assert not mark.exists()


async def test_a_question_that_cannot_be_made_again_is_not_graded() -> None:
    task = open_task("reasoning-gym:chain_sum?size=1", folder=HERE)
    other = Sample("x", "another question", "1", hidden={"index": 0})
    with pytest.raises(ProviderError, match="cannot be graded"):
        await value(task, other, "1")


@pytest.mark.parametrize(
    ("spec", "kind", "words"),
    [
        ("reasoning-gym:chain_sums", UnknownNameError, "chain_sum"),
        ("reasoning-gym:chain_sum?min_term=2", UnknownNameError, "min_terms"),
        ("reasoning-gym:chain_sum?min_terms=-4", UserError, "could not be made"),
        ("reasoning-gym:chain_sum?size=0", UserError, "a whole number from 1"),
    ],
)
def test_mistakes_are_named(spec: str, kind: type[UserError], words: str) -> None:
    with pytest.raises(kind, match=words):
        open_task(spec, folder=HERE)
