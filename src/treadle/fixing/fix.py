"""An issue and a repository in, a patch out, as a command's run of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from treadle.agents.base import Worker
from treadle.errors import UserError
from treadle.evaluation.ask import OneProblem
from treadle.evaluation.evaluate import begin
from treadle.evaluation.outcome import Outcome, Question, answer_question
from treadle.evaluation.preparing import prepare_sandbox
from treadle.fixing.headline import COMMAND, task_digest, with_strong_tokens
from treadle.fixing.keeping import check_output, copy_patch, keep_patch
from treadle.fixing.players import who_plays
from treadle.fixing.report import FixReport, Status
from treadle.fixing.repositories import named_repository
from treadle.fixing.scorer import AnyPatch
from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.recording import Recording
from treadle.ledger.session import Session
from treadle.sandbox.process import undisturbed
from treadle.tasks.base import Sample
from treadle.workflows.base import Workflow
from treadle.workflows.manager_worker.course import Course
from treadle.workflows.manager_worker.workflow import ManagerWorker, Repairer
from treadle.workspaces.base import Repository

_SAMPLE = "issue"
_ENDED_EARLY = "ended early"


async def fix(
    session: Session,
    repository: Repository,
    issue: str,
    *,
    settings: ManagerWorker | None = None,
    worker: Worker | None = None,
    models: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    seed: int = 0,
    fresh: int = 0,
    budget: Budget | None = None,
    caps: Budget | None = None,
    output: Path | None = None,
    course: Course | None = None,
) -> FixReport:
    """Resolve an issue of a repository; see `treadle.fix` for the arguments."""
    settings, course, caps = settings or ManagerWorker(), course or Course(), caps or Budget()
    repository = named_repository(repository)
    check_output(output)
    worker = worker or settings.open_worker(Path.cwd())
    workflow = replace(settings.workflow, answer=Repairer(settings, worker, course))
    await prepare_sandbox(session, None, [workflow])
    spec, cast = _spec(repository, settings, worker, models), Cast(tuple(models), roles or {})
    recording = await session.record(
        COMMAND, task=repository.path.name, spec=spec, cast=cast, budget=budget, seed=seed, fresh=fresh
    )
    begin(recording, caps, None, [workflow])
    players = who_plays(recording, settings.mode, worker)
    question = _question(workflow, repository, issue, caps)
    async with recording.closing() as ending:
        ended_by, outcome = await _worked(recording, course, question)
        report = await _kept(recording, _report(recording, settings.mode, players, course, outcome, ended_by))
        report = replace(report, task=task_digest(repository, course.start, issue))
        report = await with_strong_tokens(recording, report, outcome)
        ending.ended_by, ending.document = report.ended_by, report.document()
    return await copy_patch(report, output)


def _question(workflow: Workflow, repository: Repository, issue: str, caps: Budget) -> Question:
    sample = Sample(_SAMPLE, issue)
    given = Problem(issue, id=_SAMPLE, workspace=repository)
    return Question(workflow, OneProblem(COMMAND, (sample,), AnyPatch(), given=given), sample, 0, 0, caps)


def _spec(repository: Repository, settings: ManagerWorker, worker: Worker, models: Sequence[str]) -> dict[str, Any]:
    return {
        "workflows": [settings.workflow.name],
        "repository": str(repository.path),
        "mode": settings.mode,
        "worker": worker.name,
        "models": list(models),
        "setup": repository.setup,
        "test": repository.test,
    }


async def _worked(recording: Recording, course: Course, question: Question) -> tuple[str, Outcome | None]:
    """How the work ended and what came of it; whatever is raised, the patch that there is by then is kept."""
    outcomes: list[Outcome] = []

    async def work() -> None:
        outcomes.append(await answer_question(recording, question, ()))

    try:
        ended_by: str = await recording.until_ended(work())
    except BaseException as error:
        if course.patch:
            with contextlib.suppress(UserError):
                file = await undisturbed(keep_patch(recording.folder, course.patch))
                if isinstance(error, UserError):
                    error.args = (f"{error}; the patch that there was by then is in {file}",)
        raise
    outcome = outcomes[0] if outcomes else None
    if ended_by == "done" and outcome is not None and outcome.status == "infra":
        ended_by = "infra"
    return ended_by, outcome


def _report(
    recording: Recording,
    mode: str,
    players: Mapping[str, str],
    course: Course,
    outcome: Outcome | None,
    ended_by: str,
) -> FixReport:
    tally = recording.tally
    return FixReport(
        run=recording.id,
        task="",
        ended_by=ended_by,
        status=_status(course, outcome, ended_by),
        message=_message(recording, course, outcome),
        mode=mode,
        models=players,
        plan=course.plan,
        patch=course.patch,
        patch_file=None,
        rounds=tuple(course.rows),
        approved=course.reviewed,
        tested=course.tested,
        remarks=tuple(dict.fromkeys(course.remarks)),
        usd=tally.total_usd,
        calls={"logical": tally.logical, "paid": tally.paid, "cached": tally.cached, "retried": tally.retried},
        seconds=recording.seconds,
    )


def _message(recording: Recording, course: Course, outcome: Outcome | None) -> str:
    """Why it ended, where it was no end of its own; also where a patch was saved from a question's cap."""
    if outcome is not None and outcome.status != "ok":
        return f"{outcome.status}: {outcome.reason}"
    last = course.rows[-1].remark if course.rows else ""
    return str(recording.limit or "") or (last if last.startswith(_ENDED_EARLY) else "")


def _status(course: Course, outcome: Outcome | None, ended_by: str) -> Status:
    if course.patch:
        return "patched"
    if ended_by == "budget" or (outcome is not None and outcome.status in ("budget", "timeout")):
        return "budget"
    return "empty" if outcome is not None and outcome.status == "ok" else "failed"


async def _kept(recording: Recording, report: FixReport) -> FixReport:
    """The report with the file in the run's folder that holds its patch, or a remark that there is none."""
    if not report.patch:
        return report
    try:
        return replace(report, patch_file=str(await keep_patch(recording.folder, report.patch)))
    except UserError as error:
        return replace(report, remarks=(*report.remarks, str(error)))
