"""Gold against gold: a task's own references must be graded right before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from treadle.errors import DatasetError, TreadleError
from treadle.lookup import source_of
from treadle.tasks.base import Sample
from treadle.tasks.task import Task

SHOWN = 10


@dataclass(frozen=True, slots=True)
class BadGold:
    """A sample whose own reference is graded wrong."""

    id: str
    line: int
    reference: str
    reason: str


@dataclass(frozen=True, slots=True)
class GoldReport:
    """What a check found; ``key`` is what it may be kept under, ``checked`` counts samples that have a reference."""

    key: str
    checked: int
    bad: tuple[BadGold, ...]


def gold_key(task: Task) -> str:
    """What a check of this task's references is remembered by: the data's hash and the scorer, a user's by its code."""
    return f"{task.hash} {task.scorer.name} {source_of(getattr(task.scorer, 'grade', None))}".rstrip()


async def check_gold(task: Task) -> GoldReport:
    """Grade every sample's own reference.

    Skipped are samples without a reference and scorers that ask a model.

    Args:
        task: The task.
    """
    checked = 0
    bad: list[BadGold] = []
    if not task.scorer.judged:
        for sample in task.samples:
            reference = "" if sample.target is None else task.scorer.show(sample.target)
            if reference:
                checked += 1
                reason = await _fault(task, sample, reference)
                if reason:
                    bad.append(BadGold(sample.id, sample.line, reference, reason))
    return GoldReport(gold_key(task), checked, tuple(bad))


def apply_gold(task: Task, report: GoldReport) -> Task:
    """The task as a check leaves it: unchanged, or without its bad samples where the task asks for that.

    Raises:
        DatasetError: There are bad samples and the task does not drop them; lists them.
    """
    if not report.bad:
        return task
    if task.drop_bad_gold:
        return task.without(tuple(bad.id for bad in report.bad))
    raise DatasetError(
        f"{task.name}: {len(report.bad)} of {report.checked} references are graded wrong by the scorer "
        f"{task.scorer.name}: {_listed(report.bad)}; the first because of: {report.bad[0].reason}. Mend them, choose "
        "another scorer, or count them out with --drop-bad-gold"
    )


async def _fault(task: Task, sample: Sample, reference: str) -> str:
    run: Any = _NoRun()
    try:
        score = await task.scorer.score(sample, reference, run)
    except _AsksModels:
        return ""
    except TreadleError as error:
        return str(error)
    if score.failure is None and score.value >= 1 - 1e-9:
        return ""
    return score.reason or f"scored {score.value:g}"


def _listed(bad: Iterable[BadGold]) -> str:
    bad = list(bad)
    shown = [f"{one.id}{f' (line {one.line})' if one.line else ''}" for one in bad[:SHOWN]]
    return ", ".join(shown) + (f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else "")


class _AsksModels(Exception):
    """The scorer needs a model, so its references cannot be checked for nothing."""


class _NoRun:
    """Stands for the run where none may be used."""

    def __getattr__(self, name: str) -> NoReturn:
        raise _AsksModels(name)
