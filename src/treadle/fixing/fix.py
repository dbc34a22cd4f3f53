"""An issue and a repository in, a patch out, as a command's run of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from treadle.agents.base import Worker
from treadle.evaluation.ask import OneProblem
from treadle.evaluation.evaluate import begin
from treadle.evaluation.outcome import Outcome, Question, answer_question
from treadle.evaluation.preparing import prepare_sandbox
from treadle.fixing.headline import COMMAND, strong_tokens, task_digest
from treadle.fixing.report import FixReport, Status
from treadle.fixing.repositories import named_repository
from treadle.fixing.scorer import AnyPatch
from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.recording import Recording
from treadle.ledger.session import Session
from treadle.tasks.base import Sample
from treadle.workflows.manager_worker.course import Course
from treadle.workflows.manager_worker.workflow import ManagerWorker, Repairer
from treadle.workspaces.base import Repository

PATCH_NAME = "fix.patch"
_SAMPLE = "issue"


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
    settings, course = settings or ManagerWorker(), course or Course()
    repository = named_repository(repository)
    answer = Repairer(settings, worker or settings.open_worker(Path.cwd()), course)
    workflow = replace(settings.workflow, answer=answer)
    await prepare_sandbox(session, None, [workflow])
    sample = Sample(_SAMPLE, issue)
    digest = task_digest(str(repository.path), issue)
    cast = Cast(tuple(models), roles or {})
    strong = _strong_model(session, cast, settings)
    recording = await session.record(
        COMMAND,
        task=repository.path.name,
        spec={
            "workflows": [workflow.name],
            "repository": str(repository.path),
            "digest": digest,
            "mode": settings.mode,
            "manager": strong,
            "models": list(models),
            "test": repository.test,
        },
        cast=cast,
        budget=budget,
        seed=seed,
        fresh=fresh,
    )
    task = OneProblem(COMMAND, (sample,), AnyPatch(), given=Problem(issue, id=_SAMPLE, workspace=repository))
    outcomes: list[Outcome] = []

    async def work() -> None:
        asked = Question(workflow, task, sample, 0, 0, caps or Budget())
        outcomes.append(await answer_question(recording, asked, ()))

    begin(recording, caps or Budget(), None, [workflow])
    async with recording.closing() as ending:
        ended_by = await recording.until_ended(work())
        outcome = outcomes[0] if outcomes else None
        if ended_by == "done" and outcome is not None and outcome.status == "infra":
            ended_by = "infra"
        report = _report(recording, settings, course, outcome, ended_by)
        report = await _delivered(recording, report, output)
        here = 0 if settings.mode in ("weak", "weak-weak") else report.spent()["manager"].usage.total
        if strong:
            report = replace(report, strong=await strong_tokens(session, here, digest, strong, recording.id))
        ending.ended_by = report.ended_by
        ending.document = report.document()
    return report


def _strong_model(session: Session, cast: Cast, settings: ManagerWorker) -> str:
    """Who the manager is, as a text that is equal for equal models; empty where nobody manages."""
    if settings.mode == "weak":
        return ""
    return str(session.endpoint(cast.model("manager", session.roles, session.aliases)).identity)


def _report(
    recording: Recording, settings: ManagerWorker, course: Course, outcome: Outcome | None, ended_by: str
) -> FixReport:
    tally = recording.tally
    reason = "" if outcome is None or outcome.status == "ok" else f"{outcome.status}: {outcome.reason}"
    roles = {"strong": ("manager",), "weak": ("worker",)}.get(settings.mode, ("manager", "worker"))
    weak = settings.mode == "weak-weak"
    return FixReport(
        run=recording.id,
        ended_by=ended_by,
        status=_status(course, outcome, ended_by),
        message=reason or str(recording.limit or ""),
        mode=settings.mode,
        models={role: recording.endpoint("worker" if weak else role).alias for role in roles},
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


def _status(course: Course, outcome: Outcome | None, ended_by: str) -> Status:
    if course.patch:
        return "patched"
    if ended_by == "budget" or (outcome is not None and outcome.status in ("budget", "timeout")):
        return "budget"
    return "empty" if outcome is not None and outcome.status == "ok" else "failed"


async def _delivered(recording: Recording, report: FixReport, output: Path | None) -> FixReport:
    """The report with the file that its patch was written to."""
    if not report.patch:
        return report
    file = output or recording.folder / PATCH_NAME

    def write() -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(report.patch.content)

    await asyncio.to_thread(write)
    return replace(report, patch_file=str(file))
