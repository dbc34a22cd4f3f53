"""Several tasks as one: every sample keeps its own scorer and equality."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from treadle.errors import Caution, UserError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.tasks.base import Comparer, Duel, Sample, Score, Scorer
from treadle.tasks.scorers.answer import same_text
from treadle.tasks.split import Split
from treadle.tasks.task import Task


@dataclass(frozen=True)
class JoinedScorer:
    """Grades each sample with the scorer of the task it comes from."""

    owners: dict[str, tuple[Scorer, Sample]]
    name: str
    answer_format: str = ""
    judged: bool = False
    runs_code: bool = False

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade with the sample's own scorer."""
        scorer, original = self.owners[sample.id]
        return await scorer.score(original, answer, run)

    async def compare(
        self, sample: Sample, turn: int, a: Sequence[str], b: Sequence[str], run: Run
    ) -> tuple[Duel | None, str]:
        """Compare with the sample's own scorer, where that is one that compares."""
        scorer, original = self.owners[sample.id]
        return await scorer.compare(original, turn, a, b, run) if isinstance(scorer, Comparer) else (None, "")

    def same(self, a: str, b: str) -> bool:
        """Equality of texts; problems carry the equality of their own task."""
        return same_text(a, b)

    def show(self, target: Any) -> str:
        """The target as text."""
        return str(target)


@dataclass(frozen=True, eq=False)
class JoinedTask(Task):
    """A task made of others; problems are those of the task a sample comes from."""

    parts: dict[str, tuple[Task, Sample]] = field(default_factory=dict[str, "tuple[Task, Sample]"])

    @property
    def origins(self) -> Mapping[str, str]:
        """The name of the task that each sample comes from."""
        return {id: task.name for id, (task, _) in self.parts.items()}

    @cached_property
    def split(self) -> Split:
        """The parts of the tasks put together, so that examples of one part are never test rows of the whole.

        Raises:
            UserError: One of the tasks is too small to be split.
        """
        places: dict[tuple[int, str], int] = {}
        for task in {id(task): task for task, _ in self.parts.values()}.values():
            for place, part in enumerate((task.split.search, task.split.selection, task.split.test)):
                places.update({(id(task), sample.id): place for sample in part})
        chosen: tuple[list[Sample], list[Sample], list[Sample]] = ([], [], [])
        for sample in self.samples:
            task, original = self.parts[sample.id]
            chosen[places[id(task), original.id]].append(sample)
        return Split(*(tuple(part) for part in chosen))

    def problem(self, sample: Sample) -> Problem:
        """What a workflow sees of a sample, under its joined id."""
        task, original = self.parts[sample.id]
        problem = task.problem(original)
        problem.id = sample.id
        return problem

    def next_problem(self, sample: Sample, answers: Sequence[str]) -> Problem | None:
        """What a workflow sees of a sample's next turn, under its joined id."""
        task, original = self.parts[sample.id]
        problem = task.next_problem(original, answers)
        if problem is not None:
            problem.id = sample.id
        return problem


def join_tasks(tasks: Sequence[Task]) -> Task:
    """One task from several, ids prefixed by their place (``"1/…"``); one task stays as it is.

    Each brings as many questions to every part as the one that has fewest there, so that the mean over questions is the
    mean over tasks; the rest is left out, with a caution.
    """
    if len(tasks) == 1:
        return tasks[0]
    kept = _balanced(tasks)
    parts: dict[str, tuple[Task, Sample]] = {}
    samples: list[Sample] = []
    for place, task in enumerate(tasks, 1):
        for sample in kept[place - 1]:
            id = f"{place}/{sample.id}"
            group = None if sample.group is None else f"{place}/{sample.group}"
            samples.append(replace(sample, id=id, group=group))
            parts[id] = (task, sample)
    owners = {id: (task.scorer, sample) for id, (task, sample) in parts.items()}
    names = " + ".join(task.name for task in tasks)
    judged = any(task.scorer.judged for task in tasks)
    runs_code = any(task.runs_code for task in tasks)
    name = "+".join(dict.fromkeys(task.scorer.name for task in tasks))
    scorer = JoinedScorer(owners, name, judged=judged, runs_code=runs_code)
    dropped = tuple(f"{place}/{id}" for place, task in enumerate(tasks, 1) for id in task.dropped)
    labels = tuple(
        replace(each, id=f"{place}/{each.id}") for place, task in enumerate(tasks, 1) for each in task.labels
    )
    return JoinedTask(names, tuple(samples), scorer, dropped=dropped, labels=labels, parts=parts)


def _balanced(tasks: Sequence[Task]) -> list[tuple[Sample, ...]]:
    """As many samples of each task, in each part of its split, as every task has there."""
    try:
        parts = [(task.split.search, task.split.selection, task.split.test) for task in tasks]
    except UserError:
        parts = [(task.samples,) for task in tasks]
    sizes = [min(len(each[place]) for each in parts) for place in range(len(parts[0]))]
    kept: list[tuple[Sample, ...]] = []
    for task, own in zip(tasks, parts, strict=True):
        ids = {sample.id for part, size in zip(own, sizes, strict=True) for sample in part[:size]}
        kept.append(tuple(sample for sample in task.samples if sample.id in ids))
    left_out = [f"{task.name}: {len(task.samples)}" for task in tasks if len(task.samples) > sum(sizes)]
    if left_out:
        warnings.warn(
            f"{sum(sizes)} questions of each task are used, as many as all have in each part, so that tasks weigh "
            f"the same ({'; '.join(left_out)})",
            Caution,
            stacklevel=3,
        )
    return kept
