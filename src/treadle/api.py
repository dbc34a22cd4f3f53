"""What a program calls: measure, compare, search, fix, and ask once.

Each function opens a session of its own when it is given none. Sync twins stand in `treadle.api_sync`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from treadle.ledger.budget import Budget

if TYPE_CHECKING:
    from treadle.agents.base import Worker
    from treadle.evaluation.ablation_report import AblationReport
    from treadle.evaluation.ask import Answer
    from treadle.evaluation.baseline import BaselineReport
    from treadle.evaluation.compare import ComparisonReport
    from treadle.evaluation.measuring import Watch
    from treadle.evaluation.report import Report
    from treadle.fixing.report import FixReport
    from treadle.ledger.session import Session
    from treadle.search.report import SearchReport
    from treadle.search.settings import SearchSettings
    from treadle.tasks.task import Task
    from treadle.workflows.base import AnswerFunction, Workflow
    from treadle.workflows.manager_worker.course import Course
    from treadle.workflows.manager_worker.workflow import ManagerWorker
    from treadle.workspaces.base import Repository

    WorkflowLike = str | Workflow | AnswerFunction
    TaskLike = str | Task | Sequence[str]

T = TypeVar("T")


@asynccontextmanager
async def _opened(session: Session | str | Path | None) -> AsyncGenerator[Session]:
    from treadle.ledger.session import Session

    if isinstance(session, Session):
        yield session
        return
    async with Session(session) as opened:
        yield opened


async def evaluate(
    *workflows: WorkflowLike,
    task: TaskLike,
    session: Session | str | Path | None = None,
    models: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    limit: int | None = None,
    repeat: int = 1,
    pass_at: Sequence[int] = (),
    margin: float = 2.0,
    fresh: int = 0,
    seed: int = 0,
    budget: Budget | None = None,
    caps: Budget | None = None,
    drop_bad_gold: bool = False,
    concurrency: int | None = None,
    watch: Watch | None = None,
) -> Report:
    """Measure workflows on the same samples of a task.

    Args:
        workflows: Specs such as ``"self-consistency?n=5"``, workflows, or async functions of a problem and a run.
        task: A spec such as ``"gsm8k:test.jsonl"``, several of them, or a task.
        session: An open session, a treadle.toml, or ``None`` for the one found from here.
        models: Aliases or ``provider:model``, the strong one first.
        roles: Role name to alias.
        limit: Use the first so many samples.
        repeat: Answer every question so often, each time with draws of its own.
        pass_at: Numbers k, up to ``repeat``, for which the report says how often one of k answers is right (pass@k).
        margin: Points that do not matter where modes of ``manager-worker`` are held against ``mode=strong``.
        fresh: Take the N-th disjoint family of draws.
        seed: Seeds ``run.rng``.
        budget: Caps of the whole run.
        caps: Caps of one question.
        drop_bad_gold: Leave out samples whose own gold answer is graded wrong, instead of refusing the task.
        concurrency: Questions in flight at once.
        watch: Told after every question.

    Raises:
        UserError: When something is wrong with what was asked; nothing is spent where that can be known before.
    """
    from treadle.evaluation.evaluate import evaluate as measure

    async with _opened(session) as opened:
        return await measure(
            opened,
            workflows,
            task,
            models=models,
            roles=roles or {},
            limit=limit,
            repeat=repeat,
            pass_at=pass_at,
            margin=margin,
            fresh=fresh,
            seed=seed,
            budget=budget,
            caps=caps,
            drop_bad_gold=drop_bad_gold,
            concurrency=concurrency,
            watch=watch,
        )


async def run(
    workflow: WorkflowLike,
    question: str,
    *,
    session: Session | str | Path | None = None,
    models: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    seed: int = 0,
    fresh: int = 0,
    budget: Budget | None = None,
    caps: Budget | None = None,
) -> Answer:
    """Answer one question.

    Args:
        workflow: A spec, a workflow or an async function.
        question: The question, or a `treadle.Problem`.
        session: As in `evaluate`, like everything that follows.
        models: Aliases, the strong one first.
        roles: Role name to alias.
        seed: Seeds ``run.rng``.
        fresh: Take the N-th disjoint family of draws.
        budget: Caps of the run.
        caps: Caps of the question.

    Raises:
        UserError: When something is wrong with what was asked.
    """
    from treadle.evaluation.ask import ask

    async with _opened(session) as opened:
        return await ask(
            opened,
            workflow,
            question,
            models=models,
            roles=roles or {},
            seed=seed,
            fresh=fresh,
            budget=budget,
            caps=caps,
        )


async def compare(
    a: WorkflowLike,
    b: WorkflowLike,
    *,
    task: TaskLike | None = None,
    session: Session | str | Path | None = None,
    margin: float = 2.0,
    **measuring: Any,
) -> ComparisonReport:
    """Compare two runs, or two workflows on a task, question by question.

    Args:
        a: A run's id, ``RUN/WORKFLOW``, or (with a task) a workflow.
        b: What it is compared with; the difference is a − b.
        task: Measured first when given.
        session: As in `evaluate`.
        margin: Points within which a difference does not matter.
        measuring: As in `evaluate`, for workflows that have to be measured.

    Raises:
        UserError: When a run is unknown or the two share no question.
    """
    from treadle.evaluation.compare import compare as compared

    async with _opened(session) as opened:
        return await compared(opened, a, b, task=task, margin=margin, **measuring)


async def baseline(
    task: TaskLike, *, session: Session | str | Path | None = None, repeat: int = 5, **measuring: Any
) -> BaselineReport:
    """Measure one call, chain of thought and self-consistency, and the noise floor, and say what to try next.

    Args:
        task: As in `evaluate`, like everything that follows.
        session: An open session, a treadle.toml, or ``None``.
        repeat: At least 2, so that noise can be seen.
        measuring: As in `evaluate`.
    """
    from treadle.evaluation.baseline import baseline as measured

    async with _opened(session) as opened:
        return await measured(opened, task, repeat=repeat, **measuring)


async def search(
    space: str,
    *,
    task: TaskLike,
    method: str | None = None,
    session: Session | str | Path | None = None,
    settings: SearchSettings | None = None,
    **measuring: Any,
) -> SearchReport:
    """Find a structure, and say honestly whether it is better than the baselines.

    Args:
        space: Such as ``"workflows:single,cot,self-consistency?n=5"`` or ``"archon"``.
        task: As in `evaluate`.
        method: How structures are proposed; ``all`` or, in an Archon space, ``bayes`` where nothing is said.
        session: An open session, a treadle.toml, or ``None``.
        settings: Everything else about the search.
        measuring: As in `evaluate`.

    Raises:
        UserError: When something is wrong with what was asked.
    """
    from treadle.search.search import search as searched

    async with _opened(session) as opened:
        return await searched(opened, space, task=task, method=method, settings=settings, **measuring)


async def ablate(
    workflow: WorkflowLike,
    *,
    task: TaskLike,
    session: Session | str | Path | None = None,
    margin: float = 2.0,
    repeat: int = 1,
    **measuring: Any,
) -> AblationReport:
    """Take the parts of a workflow out one by one, say what each brings, and find the lean workflow that is left.

    Args:
        workflow: A structure such as ``"archon:general"``, or a named workflow with settings that can be lowered.
        task: As in `evaluate`, like everything that follows.
        session: An open session, a treadle.toml, or ``None``.
        margin: Points that do not matter: a part is dead when what is left without it is not worse by more.
        repeat: Answer every question so often.
        measuring: As in `evaluate`.

    Raises:
        UserError: When the workflow has no parts, or something is wrong with what was asked.
    """
    from treadle.evaluation.ablation import ablate as ablated

    async with _opened(session) as opened:
        return await ablated(opened, workflow, task, margin=margin, repeat=repeat, **measuring)


async def fix(
    repository: str | Path | Repository,
    issue: str,
    *,
    session: Session | str | Path | None = None,
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
    """Resolve an issue of a repository: a strong model directs, a cheap one works in a copy.

    Args:
        repository: Its folder, which is never written to, or a `treadle.workspaces.base.Repository` with set-up and
            test commands.
        issue: The issue's text.
        session: As in `evaluate`.
        settings: Mode, strategy and limits, such as ``ManagerWorker(mode="simple-loop")``.
        worker: A worker of your own instead of the one that Treadle brings.
        models: Aliases, the strong one first; it manages, the last one works.
        roles: Role name to alias, such as ``manager`` and ``worker``.
        seed: Seeds ``run.rng``.
        fresh: Take the N-th disjoint family of draws.
        budget: Caps of the run.
        caps: The same, for the issue.
        output: The file that the patch is written to; one in the run's folder where nothing is said.
        course: Told of every phase.

    Raises:
        UserError: When something is wrong with what was asked.
    """
    from treadle.fixing.fix import fix as fixed
    from treadle.workspaces.base import Repository

    given = repository if isinstance(repository, Repository) else Repository(Path(repository))
    async with _opened(session) as opened:
        return await fixed(
            opened,
            given,
            issue,
            settings=settings,
            worker=worker,
            models=models,
            roles=roles or {},
            seed=seed,
            fresh=fresh,
            budget=budget,
            caps=caps,
            output=output,
            course=course,
        )
