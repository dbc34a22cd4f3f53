"""From what was asked to what is measured: tasks opened and their references checked, workflows found."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from treadle.errors import Caution, SandboxError, UserError
from treadle.evaluation.measuring import Progress, Watch
from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.session import Session
from treadle.ledger.shared_sandbox import SharedSandbox
from treadle.ledger.tally import Tally
from treadle.store.base import EventRecord
from treadle.store.text import decode, encode
from treadle.tasks.base import Sample
from treadle.tasks.decorator import UserTask
from treadle.tasks.gold import GoldReport, apply_gold, check_gold, gold_key
from treadle.tasks.joined import join_tasks
from treadle.tasks.open import as_task
from treadle.tasks.simulated import simulated_models
from treadle.tasks.task import Task
from treadle.workflows.base import AnswerFunction, Workflow
from treadle.workflows.registry import as_workflow

GOLD_CHECK = "gold"

WorkflowLike = str | Workflow | AnswerFunction
TaskLike = str | Task | UserTask | Sequence[str]
AUTO = "auto"
"""Stands for the models that a simulated task brings."""


def prepare_workflows(workflows: Sequence[WorkflowLike]) -> list[Workflow]:
    """Workflows from specs, workflows and functions; each name once.

    Raises:
        UserError: When a spec is wrong.
    """
    found: dict[str, Workflow] = {}
    for given in workflows:
        workflow = as_workflow(given, folder=Path.cwd())
        known = found.setdefault(workflow.name, workflow)
        if known.answer != workflow.answer:
            raise UserError(f"two workflows are called {workflow.name}; give one another @workflow(name=…)")
    return list(found.values())


async def prepare_task(
    session: Session,
    task: TaskLike,
    *,
    limit: int | None = None,
    drop_bad_gold: bool = False,
    budget: Budget | None = None,
    watch: Watch | None = None,
) -> Task:
    """A task, with every reference known to be graded right.

    An interrupt, or the end of the budget's time, leaves the rest unchecked: whatever is measured then ends at once.
    A check that finds nothing wrong is remembered in the store, for the same data, scorer and sandbox.

    Raises:
        DatasetError: When a file cannot be used, or references are graded wrong.
        SandboxError: When answers are programs, and nothing here runs them safely or grades them right.
        UserError: When the task's name is wrong.
    """
    if isinstance(task, Task):
        await prepare_sandbox(session, task)
        return task if limit is None else task.limit(limit)
    limits = session.settings.budget
    seconds = budget.seconds if budget is not None and budget.seconds is not None else limits.seconds
    deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
    opened = _opened(task, limit, drop_bad_gold)
    checked = [await _in_time(session, deadline, _with_good_references(session, each, watch)) for each in opened]
    return join_tasks([good or each for good, each in zip(checked, opened, strict=True)])


def open_unchecked(task: Sequence[str], limit: int | None = None, *, drop_bad_gold: bool = False) -> Task:
    """A task whose references nobody has looked at: enough to know its questions, and to measure nothing.

    Raises:
        DatasetError: When a file cannot be used.
        UserError: When the task's name is wrong.
    """
    return join_tasks(_opened(task, limit, drop_bad_gold))


def _opened(task: str | UserTask | Sequence[str], limit: int | None, drop_bad_gold: bool) -> list[Task]:
    given = [task] if isinstance(task, str) or not isinstance(task, Sequence) else list(task)
    return [as_task(each, folder=Path.cwd(), limit=limit, drop_bad_gold=drop_bad_gold) for each in given]


async def _in_time(session: Session, deadline: float | None, work: Coroutine[Any, Any, Task]) -> Task | None:
    """What comes of work, or ``None`` where an interrupt or the clock ends it first; nothing is left running."""
    task = asyncio.ensure_future(work)
    interrupted = asyncio.ensure_future(session.interrupted.wait())
    timeout = None if deadline is None else deadline - asyncio.get_running_loop().time()
    try:
        await asyncio.wait({task, interrupted}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if session.interrupted.is_set() and task.cancelled():
            return None
        return task.result() if task.done() else None
    finally:
        interrupted.cancel()
        task.cancel()
        await asyncio.gather(task, interrupted, return_exceptions=True)


async def _with_good_references(session: Session, task: Task, watch: Watch | None) -> Task:
    if task.runs_code and not session.spends:
        return task
    sandbox = await prepare_sandbox(session, task)
    key = gold_key(task, sandbox)
    events = await session.journal.read(lambda store: store.events(GOLD_CHECK, key))
    if events:
        return apply_gold(task, decode(events[-1].payload, GoldReport))
    nothing = Tally()

    def told(done: int, of: int) -> None:
        if watch is not None and task.runs_code:
            watch(Progress(done, of, nothing, checking=True))

    report = await check_gold(task, sandbox, told)
    if not report.bad:
        # A reference that ran out of time did so on a busy machine, perhaps: what is wrong is looked at again.
        await session.journal.write(EventRecord("", GOLD_CHECK, key, time.time(), encode(report)))
    return apply_gold(task, report)


async def prepare_sandbox(
    session: Session, task: Task | None = None, workflows: Iterable[Workflow] = ()
) -> SharedSandbox | None:
    """Open the sandbox where something will run programs, so that what is missing is known before anything is spent.

    Where a scorer will run them, a good and a bad program are graded first.

    Args:
        session: Whose sandbox it is; one that spends nothing needs none.
        task: What will be measured on.
        workflows: What will be measured.

    Returns:
        The sandbox, or ``None`` where nothing says that it runs programs, or nothing will: after an interrupt.

    Raises:
        SandboxError: Nothing here isolates, what was asked for does not, or it does not tell good programs from bad.
    """
    graded = task is not None and task.runs_code
    needed = graded or any(workflow.runs_code for workflow in workflows)
    if session.interrupted.is_set() or not session.spends or not needed:
        return None
    sandbox = await session.sandbox()
    if graded and not sandbox.trusted:
        from treadle.sandbox.code_tests import canaries

        fault = await canaries(sandbox, sandbox.limits)
        if fault is not None:
            raise SandboxError(f"programs cannot be graded in the sandbox {sandbox.name}: {fault}")
        sandbox.trusted = True
        if not sandbox.traits.processes:
            text = (
                f"in the sandbox {sandbox.name} a program and its tests share one interpreter: one that is written to "
                "cheat can pass; name a sandbox with processes, such as bubblewrap, to keep them apart"
            )
            warnings.warn(text, Caution, stacklevel=2)
    return sandbox


def prepare_cast(
    session: Session, task: TaskLike, models: Sequence[str], roles: Mapping[str, str] | None = None
) -> Cast:
    """Who plays which part; ``auto`` stands for the models of a simulated task, and is what one takes by itself.

    Raises:
        UserError: When ``auto`` is asked for and the task brings no models.
    """
    if isinstance(task, Task):
        specs = list(dict.fromkeys(task.origins.values())) or [task.name]
    else:
        specs = [task] if isinstance(task, str) else [] if isinstance(task, UserTask) else list(task)
    simulated = [spec for spec in specs if spec.startswith("simulated:")]
    # Only its own models can answer a simulated surface; plain simulated questions any simulated model.
    surface = any(spec.startswith("simulated:archon") for spec in simulated)
    own = not models and bool(simulated) and (surface or not _has_default(session))
    if tuple(models) != (AUTO,) and not own:
        return Cast(tuple(models), roles or {})
    if not simulated:
        raise UserError("--models auto takes the models of a simulated task; name models for this one")
    return Cast(simulated_models(simulated[0]), roles or {})


def _has_default(session: Session) -> bool:
    """Whether the file says which model answers where nothing is said."""
    try:
        Cast().model(None, session.roles, session.aliases)
    except UserError:
        return False
    return True


def clusters_of(samples: Sequence[Sample]) -> dict[str, str]:
    """The groups of the samples that have one."""
    return {sample.id: sample.group for sample in samples if sample.group is not None}


def spec_of(task: Task, workflows: Sequence[Workflow], **asked: Any) -> dict[str, Any]:
    """What was asked, as JSON values for the store."""
    return {
        "task": task.name,
        "data": task.hash,
        "scorer": task.scorer.name,
        "rows": task.row_hashes,
        "workflows": [workflow.name for workflow in workflows],
        "groups": clusters_of(task.samples),
        **asked,
    }
