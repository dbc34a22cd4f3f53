"""Gold against gold: a task's own references must be graded right before anything is spent."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, Protocol, runtime_checkable

from treadle.errors import Caution, DatasetError, ProviderError, SandboxError, TreadleError
from treadle.ledger.run import Run
from treadle.lookup import source_of
from treadle.sandbox.base import Sandbox
from treadle.tasks.base import Sample
from treadle.tasks.task import Task

SHOWN = 10
Watch = Callable[[int, int], None]
"""Told after every reference that was graded: how many of how many."""


@runtime_checkable
class ReferenceChecker(Protocol):
    """A scorer that knows more of a reference than that it is graded right, such as that grading tells it from none."""

    async def reference_fault(self, sample: Sample, run: Run) -> str:
        """What is wrong with a sample's reference, in words.

        Args:
            sample: One that has a reference.
            run: Where programs are run; nobody can be asked.

        Returns:
            Nothing where it is right.
        """
        ...


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


def gold_key(task: Task, sandbox: Sandbox | None = None) -> str:
    """What a check of this task's references is remembered by.

    The data's hash, the scorer (a user's by its code) and, where programs are graded, what runs them within which
    limits, and where and how: what passes within some may not within others.
    """
    ran_by = ""
    if sandbox is not None and task.runs_code:
        ran_by = f"{sandbox.identity} {getattr(sandbox, 'limits', '')}"
    grounds = str(getattr(task.scorer, "grounds", ""))
    parts = (task.hash, task.scorer.name, source_of(getattr(task.scorer, "grade", None)), ran_by, grounds)
    return " ".join(part for part in parts if part)


async def check_gold(task: Task, sandbox: Sandbox | None = None, watch: Watch | None = None) -> GoldReport:
    """Grade every sample's own reference.

    Skipped are samples without a reference and scorers that ask a model. References that are programs are run, a few
    at once.

    Args:
        task: The task.
        sandbox: Where a scorer that runs programs runs them.
        watch: Told after every reference.

    Raises:
        SandboxError: The references are programs and there is no sandbox, or it does not run them.
    """
    if task.runs_code and sandbox is None:
        raise SandboxError(f"{task.name}: the answers are programs, and grading them takes a sandbox")
    shown = [(sample, "" if sample.target is None else task.scorer.show(sample.target)) for sample in task.samples]
    given = [] if task.scorer.judged else [(sample, reference) for sample, reference in shown if reference]
    with TemporaryDirectory(prefix="treadle-references-", ignore_cleanup_errors=True) as folder:
        faults = await _faults(task, given, _Surrogate(sandbox, Path(folder)), watch or _unwatched)
    bad = [
        BadGold(sample.id, sample.line, reference, fault)
        for (sample, reference), fault in zip(given, faults, strict=True)
        if fault
    ]
    return GoldReport(gold_key(task, sandbox), len(given), tuple(bad))


def apply_gold(task: Task, report: GoldReport) -> Task:
    """The task as a check leaves it: unchanged, or, with a caution, without its bad samples where it asks for that.

    Raises:
        DatasetError: There are bad samples and the task does not drop them; lists them.
    """
    if not report.bad:
        return task
    if task.drop_bad_gold:
        left_out = f"{len(report.bad)} of {report.checked} references are graded wrong and left out"
        warnings.warn(f"{task.name}: {left_out}: {_listed(report.bad)}", Caution, stacklevel=2)
        return task.without(tuple(bad.id for bad in report.bad))
    raise DatasetError(
        f"{task.name}: {len(report.bad)} of {report.checked} references are graded wrong by the scorer "
        f"{task.scorer.name}: {_listed(report.bad)}; the first because of: {report.bad[0].reason}. Mend them, choose "
        "another scorer, or count them out with --drop-bad-gold"
    )


async def _faults(task: Task, given: list[tuple[Sample, str]], run: Any, watch: Watch) -> list[str]:
    """What is wrong with each reference, in order; where programs are run, as many at once as keep the machine busy."""
    faults: list[str] = []
    if not task.runs_code:
        for sample, reference in given:
            faults.append(await _fault(task, sample, reference, run))
            watch(len(faults), len(given))
        return faults
    room = asyncio.Semaphore((os.cpu_count() or 1) + 2)

    async def graded(sample: Sample, reference: str) -> str:
        async with room:
            fault = await _fault(task, sample, reference, run)
        faults.append(fault)
        watch(len(faults), len(given))
        return fault

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(graded(*each)) for each in given]
    except* SandboxError as errors:
        raise errors.exceptions[0] from None
    return [each.result() for each in tasks]


async def _fault(task: Task, sample: Sample, reference: str, run: Any) -> str:
    try:
        if isinstance(task.scorer, ReferenceChecker):
            return await task.scorer.reference_fault(sample, run)
        score = await task.scorer.score(sample, reference, run)
    except _AsksModels:
        return ""
    except (ProviderError, SandboxError) as error:
        if task.runs_code:
            raise SandboxError(f"{task.name}: the references cannot be checked: {error}") from error
        return str(error)
    except TreadleError as error:
        return str(error)
    if score.failure is None and score.value >= 1 - 1e-9:
        return ""
    return score.reason or f"scored {score.value:g}"


def _unwatched(done: int, of: int) -> None:
    """Whom nobody tells."""


def _listed(bad: Iterable[BadGold]) -> str:
    bad = list(bad)
    shown = [f"{one.id}{f' (line {one.line})' if one.line else ''}" for one in bad[:SHOWN]]
    return ", ".join(shown) + (f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else "")


class _AsksModels(Exception):
    """The scorer needs a model, so its references cannot be checked for nothing."""


class _Surrogate:
    """Stands for the run where programs may be run and nobody asked."""

    def __init__(self, sandbox: Sandbox | None, folder: Path) -> None:
        self.folder = folder
        if sandbox is not None:
            self.sandbox = sandbox

    def child(self, name: str) -> _Surrogate:
        """A part of it, which may do as little."""
        return self

    def __getattr__(self, name: str) -> NoReturn:
        raise _AsksModels(name)
