"""Measuring workflows on a task: every sample, every repeat, on one run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

from treadle.errors import UserError
from treadle.evaluation.cautions import caution
from treadle.evaluation.claims import with_claims
from treadle.evaluation.collection import rare_collection
from treadle.evaluation.found import prepare_measured
from treadle.evaluation.judging import LABELLED_COMMANDS, LabelCheck
from treadle.evaluation.leak_lists import joined, leak_message
from treadle.evaluation.measuring import Asked, Measuring, Progress, Watch
from treadle.evaluation.outcome import Outcome, Question, answer_question
from treadle.evaluation.pass_at import allowed_draws
from treadle.evaluation.predictions import write_predictions
from treadle.evaluation.preparing import (
    TaskLike,
    WorkflowLike,
    prepare_sandbox,
    prepare_task,
    spec_of,
)
from treadle.evaluation.report import INFRA_SHARE, Report, Row
from treadle.ledger.budget import Budget
from treadle.ledger.keys import MAX_REPEATS
from treadle.ledger.recording import EndedBy, Recording
from treadle.ledger.session import Session
from treadle.ledger.tally import Tally
from treadle.tasks.base import Sample
from treadle.tasks.task import Task
from treadle.workflows.base import NO_WORKSPACE, Workflow

NO_CAPS = Budget()
_SPARE = 4


@dataclass(slots=True)
class Measurement:
    """Workflows × samples × repeats, being measured within a command's run.

    Attributes:
        recording: The command's run.
        workflows: What to measure; each gets a row.
        task: What to measure it on.
        samples: The task's samples to use, in order.
        repeats: How often each question is answered, each time with draws of its own.
        phase: Whose draws to take: 0 for measuring and searching, 1 for selection, 2 for test.
        caps: Caps of one question.
        concurrency: Questions in flight; by default a few more than the model given takes calls at once.
        watch: Told after every question.
    """

    recording: Recording
    workflows: Sequence[Workflow]
    task: Task
    samples: Sequence[Sample]
    repeats: int = 1
    phase: int = 0
    caps: Budget = NO_CAPS
    concurrency: int | None = None
    watch: Watch | None = None
    rows: list[Row] = field(default_factory=list[Row])

    async def run(self) -> EndedBy:
        """Measure until done, out of budget or interrupted; rows hold whatever finished.

        Raises:
            UserError: When something only the user can mend came up.
        """
        ids = [sample.id for sample in self.samples]
        clusters = [sample.group or sample.id for sample in self.samples]
        models = self.recording.models
        unpriced = self.recording.tally.unpriced
        self.rows = [
            Row(
                workflow.name,
                models,
                ids,
                clusters,
                self.repeats,
                tally=Tally(unpriced=unpriced),
                origins=self.task.origins,
            )
            for workflow in self.workflows
        ]
        with rare_collection():
            ended_by = await self.recording.until_ended(self._work())
        order = {id: place for place, id in enumerate(ids)}
        for row in self.rows:
            row.outcomes.sort(key=lambda outcome: (order[outcome.id], outcome.repeat))
        return ended_by

    async def _work(self) -> None:
        questions = self._questions()
        width = self.concurrency or _width(self.recording)
        width = max(1, min(width, len(self.rows) * len(self.samples) * self.repeats))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(width):
                    group.create_task(self._worker(questions))
        except* UserError as errors:
            raise errors.exceptions[0] from None

    async def _worker(self, questions: Iterator[tuple[Row, Question]]) -> None:
        total = len(self.rows) * len(self.samples) * self.repeats
        loop = asyncio.get_running_loop()
        for row, question in questions:
            outcome: Outcome = await answer_question(self.recording, question, (row.tally,))
            row.outcomes.append(outcome)
            row.seconds = max(row.seconds, loop.time() - row.began)
            if self.watch is not None:
                done = sum(len(each.outcomes) for each in self.rows)
                self.watch(Progress(done, total, self.recording.tally))

    def _questions(self) -> Iterator[tuple[Row, Question]]:
        loop = asyncio.get_running_loop()
        for row, workflow in zip(self.rows, self.workflows, strict=True):
            row.began = loop.time()
            for repeat in range(self.repeats):
                for sample in self.samples:
                    yield row, Question(workflow, self.task, sample, repeat, self.phase, self.caps)


def _width(recording: Recording) -> int:
    """A few more questions than calls at once: others keep the model busy while some are graded and committed."""
    slots = recording.session.endpoint(recording.models[0]).limits.concurrency
    return slots + max(_SPARE, slots // _SPARE)


def ended(ended_by: EndedBy, rows: Sequence[Row]) -> EndedBy:
    """How a measurement ended, infrastructure failures considered."""
    if ended_by == "done" and any(row.infra_share > INFRA_SHARE for row in rows):
        return "infra"
    return ended_by


def refuse_without_workspace(task: Task, workflows: Sequence[Workflow]) -> None:
    """Refuse workflows that work on files, where a question comes without.

    Raises:
        UserError: Names the first of them.
    """
    bare = any(sample.workspace is None for sample in task.samples)
    for workflow in workflows:
        if bare and workflow.needs_workspace:
            raise UserError(NO_WORKSPACE.format(workflow=workflow.name))


def begin(recording: Recording, caps: Budget, task: Task | None = None, workflows: Sequence[Workflow] = ()) -> None:
    """Find out now, before a call is made, what would stop the first one, and say what should be thought about twice.

    Raises:
        UserError: When no model is given, a name is unknown, a key is missing or dollars cannot be counted.
    """
    recording.dollar_caps = caps.usd is not None
    # A structure that names all its models asks nobody else, so nobody else needs a key or a price.
    own_cast = bool(workflows) and all(workflow.players for workflow in workflows) and not recording.cast.models
    for model in (*(() if own_cast else recording.models), *recording.cast.roles.values()):
        recording.endpoint(None, model)
    if not own_cast:
        recording.endpoint()
    if task is not None:
        refuse_without_workspace(task, workflows)
    if task is not None and task.scorer.judged:
        recording.endpoint("judge")
    caution(recording, workflows)


async def evaluate(
    session: Session,
    workflows: Sequence[WorkflowLike],
    task: TaskLike,
    *,
    command: str = "eval",
    repeat: int = 1,
    pass_at: Sequence[int] = (),
    margin: float = 2.0,
    begun: float | None = None,
    **measuring: Unpack[Measuring],
) -> Report:
    """Measure workflows on a task as a command's run of its own; see `treadle.evaluate` for the arguments."""
    begun = asyncio.get_running_loop().time() if begun is None else begun
    asked = Asked(**measuring)
    if not workflows:
        raise UserError("nothing to measure: name at least one workflow, such as single")
    if not 1 <= repeat < MAX_REPEATS:
        raise UserError(f"repeat must be from 1 to {MAX_REPEATS - 1}, not {repeat}")
    draws = allowed_draws(pass_at, repeat)
    found, cast = await prepare_measured(session, workflows, task, asked.models, asked.roles)
    opened = await prepare_task(session, task, **asked.preparing)
    await prepare_sandbox(session, opened, found)
    models, roles = list(cast.models), dict(asked.roles)
    recording = await session.record(
        command,
        task=opened.name,
        spec=spec_of(opened, found, models=models, roles=roles, repeat=repeat, fresh=asked.fresh),
        cast=cast,
        budget=asked.budget,
        seed=asked.seed,
        fresh=asked.fresh,
        begun=begun,
    )
    begin(recording, asked.question_caps, opened, found)
    labels = bool(opened.labels) and command in LABELLED_COMMANDS
    return await _measured(recording, found, opened, asked, repeat, draws, margin, labels=labels)


async def _measured(
    recording: Recording,
    workflows: Sequence[Workflow],
    task: Task,
    asked: Asked,
    repeat: int,
    draws: tuple[int, ...],
    margin: float,
    *,
    labels: bool,
) -> Report:
    measurement = Measurement(
        recording,
        workflows,
        task,
        task.samples,
        repeat,
        caps=asked.question_caps,
        concurrency=asked.concurrency,
        watch=asked.watch,
    )
    async with recording.closing() as ending:
        ended_by = await measurement.run()
        if ended_by == "done" and labels:
            ended_by = await _hold_against_labels(measurement)
        predictions = await write_predictions(task, measurement.rows, recording.folder)
        result = replace(report(measurement, ended_by), pass_at=draws, predictions=predictions)
        result = with_claims(result, margin, lambda name: str(recording.endpoint(None, name).identity))
        ending.ended_by = result.ended_by
        ending.document = result.document()
    return result


async def _hold_against_labels(measurement: Measurement) -> EndedBy:
    check = LabelCheck(measurement.recording, measurement.task, measurement.samples)
    ended_by = await check.run()
    for row in measurement.rows:
        row.agreement = check.agreement
    return ended_by


def report(measurement: Measurement, ended_by: EndedBy) -> Report:
    """The report of a finished or interrupted measurement."""
    recording = measurement.recording
    rows = measurement.rows
    ended_by = ended(ended_by, rows)
    return Report(recording.id, measurement.task.name, ended_by, tuple(rows), _message(recording, ended_by, rows))


def _message(recording: Recording, ended_by: EndedBy, rows: Sequence[Row]) -> str:
    if ended_by == "budget":
        return str(recording.limit or "")
    leaked = leak_message(joined(row.leaks for row in rows))
    if leaked:
        return leaked
    failed = next((row for row in rows if row.first_failure), None)
    if failed is None:
        return ""
    return (
        f"the provider failed on {failed.infra_share:.0%} of the questions of {failed.workflow}: {failed.first_failure}"
    )
