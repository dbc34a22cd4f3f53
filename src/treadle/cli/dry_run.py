"""``--dry-run``: what a measurement would cost, before a cent is spent; what the command would refuse is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treadle.cli.options import Asking, Measuring
    from treadle.ledger.budget import Budget
    from treadle.ledger.cast import Cast
    from treadle.ledger.recording import Recording
    from treadle.ledger.session import Session
    from treadle.tasks.base import Sample
    from treadle.tasks.task import Task
    from treadle.workflows.base import Workflow

_COUNTED = ("structures", "samples", "calls_per_structure", "calls", "tokens")


async def dry_run(
    session: Session, command: str, options: Measuring, workflows: Sequence[str], task: Task, repeat: int
) -> int:
    """Say what measuring workflows on a task would cost; gives the exit code.

    Args:
        session: An open session.
        command: The command's name.
        options: The command's options.
        workflows: Specs.
        task: An open task.
        repeat: How often each question would be answered.

    Raises:
        UserError: As the command itself would.
    """
    from treadle.cli.programs import say_programs
    from treadle.evaluation.found import prepare_measured
    from treadle.evaluation.judging import LABELLED_COMMANDS

    found, cast = await prepare_measured(session, workflows, task, options.cast(), options.roles())
    recording = await would_record(session, command, cast, options.budget(), options.caps(), task=task, workflows=found)
    runs_code = say_programs(session, task, found)
    labelled = task if task.labels and command in LABELLED_COMMANDS else None
    return _say(
        options,
        found,
        task.samples,
        recording,
        task.name,
        repeat,
        judged=task.scorer.judged,
        labelled=labelled,
        runs_code=runs_code,
    )


async def dry_answer(session: Session, options: Asking, workflow: str, question: Sample) -> int:
    """Say what answering one question would cost; gives the exit code."""
    from treadle.cli.programs import say_programs
    from treadle.evaluation.found import found_workflows
    from treadle.evaluation.preparing import prepare_workflows
    from treadle.ledger.cast import Cast

    given = await found_workflows(session, [workflow])
    found = prepare_workflows(given.workflows)
    cast = Cast(options.cast() or given.models, {**given.roles, **options.roles()})
    recording = await would_record(session, "run", cast, options.budget(), options.caps(), workflows=found)
    runs_code = say_programs(session, None, found, tests=False)
    return _say(options, found, [question], recording, workflow, runs_code=runs_code)


async def would_record(
    session: Session,
    command: str,
    cast: Cast,
    budget: Budget,
    caps: Budget,
    *,
    task: Task | None = None,
    workflows: Sequence[Workflow] = (),
    resume: str | None = None,
) -> Recording:
    """The run that this would be, after every check that is made before a first call.

    Raises:
        UserError: As the command itself would.
    """
    from treadle.evaluation.evaluate import begin

    recording = await session.record(command, cast=cast, budget=budget, resume=resume)
    begin(recording, caps, task, workflows)
    return recording


def show_estimate(document: dict[str, Any], options: Asking, title: str, *, runs_code: bool | None = None) -> int:
    """Print an estimate; gives the exit code.

    Args:
        document: The estimate as JSON values.
        options: The command's options.
        title: What would be measured.
        runs_code: Whether programs would be run, where that was looked up.
    """
    from treadle.cli.output import print_json, print_text

    if options.as_json:
        print_json(_whole(document) | ({} if runs_code is None else {"runs_code": runs_code}))
    else:
        from treadle.cli import tables

        print_text(tables.estimated(document, title))
    return 0


def _whole(document: dict[str, Any]) -> dict[str, Any]:
    """The document with whole numbers of what can be counted."""

    def whole(bounds: dict[str, float | None]) -> dict[str, int | None]:
        low, high = bounds["low"], bounds["high"]
        return {
            "low": None if low is None else math.floor(low),
            "high": None if high is None else math.ceil(high),
        }

    return {name: whole(value) if name in _COUNTED and value else value for name, value in document.items()}


def _say(
    options: Asking,
    workflows: Sequence[Workflow],
    samples: Sequence[Sample],
    recording: Recording,
    title: str,
    repeat: int = 1,
    *,
    judged: bool = False,
    labelled: Task | None = None,
    runs_code: bool,
) -> int:
    from treadle.evaluation.estimate import estimate, labels_estimate

    endpoint = recording.endpoint()
    found = estimate(workflows, samples, endpoint, repeat, judged=judged, played_by=recording.endpoint)
    if labelled is not None:
        found += labels_estimate(labelled, endpoint)
    return show_estimate(found.document(), options, title, runs_code=runs_code)
