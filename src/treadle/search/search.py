"""A search from beginning to honest end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

from threadpoolctl import threadpool_limits

from treadle.errors import UserError
from treadle.evaluation.collection import rare_collection
from treadle.evaluation.evaluate import Measurement, begin, ended
from treadle.evaluation.found import Found, found_workflows
from treadle.evaluation.leak_lists import joined, leak_message
from treadle.evaluation.measuring import Asked, Measuring, Watch
from treadle.evaluation.preparing import TaskLike, prepare_cast, prepare_sandbox, prepare_task, spec_of
from treadle.evaluation.report import Row
from treadle.ledger.budget import Amount, Budget
from treadle.ledger.cast import Cast
from treadle.ledger.recording import EndedBy, Recording
from treadle.ledger.resuming import count_unclaimed
from treadle.ledger.session import Session
from treadle.search.asked import as_asked, check_same, fingerprint, with_best
from treadle.search.closing_cost import closing_calls
from treadle.search.finale import Finale
from treadle.search.ranking import Ranked, Ranking, rank_models
from treadle.search.report import SearchReport
from treadle.search.reserve import Reserve, cheapest, most_evaluated
from treadle.search.selection import FINALISTS
from treadle.search.settings import MOST_STRUCTURES, CostUnit, SearchSettings
from treadle.search.space import Grid, Space
from treadle.search.spaces.open import WORTH_SEARCHING, Given, open_space, space_kind, workflow_list
from treadle.search.strategies.registry import check_method, open_strategy
from treadle.search.study import Study
from treadle.search.truth import regret
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow
from treadle.workflows.settings import split_specs

NEEDS_PRICES = "--cost-unit usd needs prices: give each model and role price = { input = …, output = … }"


@dataclass(frozen=True, slots=True)
class Plan:
    """A search that is ready to begin: nothing in it costs anything yet."""

    space: Space
    method: str
    task: Task
    settings: SearchSettings
    unit: CostUnit
    caps: Budget
    most: int


async def search(
    session: Session,
    space: str,
    *,
    task: TaskLike,
    method: str | None = None,
    settings: SearchSettings | None = None,
    resume: str | None = None,
    **measuring: Unpack[Measuring],
) -> SearchReport:
    """Find a structure and test it honestly; see `treadle.search` for the arguments.

    ``resume`` names a run to go on with under its own id: what it paid for is neither lost nor paid again.
    """
    begun = asyncio.get_running_loop().time()
    asked = Asked(**measuring)
    settings = settings or SearchSettings()
    method = method or usual_method(space)
    opened, found, cast = await open_search(session, space, task, method, settings, asked)
    wanted = as_asked(space, task, method, settings, asked)
    spec = spec_of(opened, [], asked=wanted, models=list(cast.models), roles=dict(cast.roles), space=fingerprint(found))
    if resume is not None:
        await check_same(session, resume, spec)
    recording = await session.record(
        "search",
        task=opened.name,
        spec=spec,
        cast=cast,
        budget=asked.budget,
        seed=asked.seed,
        fresh=asked.fresh,
        resume=resume,
        begun=begun,
    )
    dearest = [each.workflow for each in found.structures()[-MOST_STRUCTURES:]]
    await prepare_sandbox(session, opened, dearest)
    begin(recording, asked.question_caps, opened, dearest)
    plan = _plan(recording, found, method, opened, settings, asked.question_caps)
    async with recording.closing() as ending:
        # Matrices here are small: several threads of BLAS only wait for each other.
        with rare_collection(), threadpool_limits(limits=1, user_api="blas"):
            report = await _Search(recording, plan, asked.concurrency, asked.watch).run()
        ending.ended_by = report.ended_by
        ending.document = await with_best(session, resume, report.document())
    return report


def usual_method(space: str) -> str:
    """Who proposes where nothing else is said: everything of a list, a surrogate in a large space."""
    return "all" if space_kind(space) == "workflows" else "bayes"


async def open_search(
    session: Session, space: str, task: TaskLike, method: str, settings: SearchSettings, asked: Asked
) -> tuple[Task, Space, Cast]:
    """The task, with its split, the space of a search, and who plays which part.

    Raises:
        UserError: When something is wrong with what was asked.
    """
    check_method(space_kind(space), method)
    listed = await _listed(session, space)
    cast = prepare_cast(session, task, asked.models or listed.models, {**listed.roles, **asked.roles})
    most_calls = asked.question_caps.calls
    given = Given(max(1, len(cast.models)), None if most_calls is None else int(most_calls))
    opened = await prepare_task(session, task, **asked.preparing)
    if settings.split_seed is not None:
        opened = replace(opened, seed=settings.split_seed)
    _ = opened.split  # refuses a task that is too small to be split
    found = workflow_list(space, listed.workflows) if listed.workflows else open_space(space, Path.cwd(), given)
    if isinstance(found, Grid) and not settings.anyway:
        _check_worth(found, given.most_calls)
    return opened, found, cast


async def _listed(session: Session, space: str) -> Found:
    """The workflows of a space that lists them, ``run:ID`` looked up; nothing for other spaces."""
    kind, _, names = space.partition(":")
    if kind != "workflows" or not names.strip():
        return Found(())
    return await found_workflows(session, split_specs(names))


def _check_worth(space: Space, most_calls: int | None) -> None:
    if most_calls is not None and most_calls < WORTH_SEARCHING:
        raise UserError(
            f"{most_calls} calls a question leave {space.valid} of {space.raw} structures: below {WORTH_SEARCHING} "
            "calls a search is not worth its cost (arXiv 2409.15254); measure two or three structures with "
            "treadle eval, or add --anyway"
        )


def _plan(recording: Recording, space: Space, method: str, task: Task, settings: SearchSettings, caps: Budget) -> Plan:
    if settings.cost_unit == "usd" and not recording.priced:
        raise UserError(NEEDS_PRICES)
    unit: CostUnit = settings.cost_unit or ("usd" if recording.priced else "tokens")
    most = most_evaluated(space, settings)
    return Plan(space, method, task, settings, unit, caps, most)


@dataclass(slots=True)
class _Search:
    """The parts of a search: models ranked, structures raced, the end; and the money kept for it."""

    recording: Recording
    plan: Plan
    concurrency: int | None
    watch: Watch | None
    reserve: Reserve = field(init=False)
    finale: Finale = field(init=False)
    study: Study | None = None
    ranking: Ranking | None = None

    def __post_init__(self) -> None:
        plan = self.plan
        self.reserve = Reserve(self.recording, plan.task, plan.settings)
        self.finale = Finale(
            self.recording,
            plan.task,
            plan.settings,
            plan.unit,
            plan.caps,
            self.reserve.covers,
            self.concurrency,
            self.watch,
        )

    async def run(self) -> SearchReport:
        """Rank, search, select, test."""
        if not self.reserve.covers_beginning(self.plan.space):
            await count_unclaimed(self.recording)
            return self._report("budget", self.reserve.too_small(self.plan.space, self.plan.most))
        first = cheapest(self.plan.space, self.plan.most)
        self.reserve.keep([each.workflow for each in (first[:1] if isinstance(self.plan.space, Grid) else first)])
        ended_by = await self._rank()
        if ended_by == "done":
            self.study = self._begin_study()
            ended_by = await self.study.explore()
        message = str(self.recording.limit or "") if ended_by == "budget" else ""
        self.recording.account.set_aside(Amount())
        chosen = self._finalists()
        affordable = self.reserve.affordable(chosen)
        if chosen and not affordable:
            ended_by, message = "budget", self._no_end(chosen)
        elif ended_by != "interrupt" and affordable:
            self.recording.limit = None if self.recording.in_time else self.recording.limit
            ending = await self.finale.run(affordable)
            ended_by = ended_by if ending == "done" else ending
            message = message or str(self.recording.limit or "")
        await count_unclaimed(self.recording)
        rows = [*self.reserve.rows, *self.finale.selected.values()]
        ended_by = ended(ended_by, _together(rows))
        if ended_by == "infra" and not message:
            message = next((f"the provider failed: {row.first_failure}" for row in rows if row.first_failure), "")
        report = self._report("infra" if ended_by == "done" and not self.finale.usable else ended_by, message)
        if self.finale.winner is None or ended_by == "interrupt":
            return report
        plan = self.plan
        return replace(report, regret=await regret(plan.task, plan.space, self.finale.winner, self.recording))

    async def _rank(self) -> EndedBy:
        """Rank the models where the space depends on which are better."""
        space = self.plan.space
        if not isinstance(space, Ranked) or len(space.ranking) < 2:
            return "done"
        singles = [structure.workflow for structure in space.singles()]
        plan = self.plan
        measurement = Measurement(
            self.recording,
            singles,
            plan.task,
            plan.task.split.search,
            plan.settings.search_repeat,
            caps=plan.caps,
            concurrency=self.concurrency,
            watch=self.watch,
        )
        self.ranking = await rank_models(measurement)
        self.reserve.rows += self.ranking.rows
        self.plan = replace(plan, space=space.ranked(self.ranking.places))
        return self.ranking.ended_by

    def _begin_study(self) -> Study:
        plan = self.plan
        return Study(
            self.recording,
            plan.task,
            plan.task.split.search,
            open_strategy(plan.method, plan.space, self.recording.seed, plan.settings),
            plan.settings,
            plan.unit,
            plan.caps,
            plan.most,
            plan.most if plan.space.valid is not None else None,
            self.concurrency,
            self.watch,
            self._keep_for_later,
            rows=self.reserve.rows,
        )

    def _keep_for_later(self, study: Study) -> None:
        alive = [structure.workflow for structure in study.alive]
        self.reserve.keep(alive or [each.workflow for each in cheapest(self.plan.space, self.plan.most)[:FINALISTS]])

    def _no_end(self, chosen: Sequence[Workflow]) -> str:
        _, calls = closing_calls(self.plan.task, self.plan.settings, chosen[:1])
        return (
            "what is left of the budget does not cover choosing and testing even the one that is ahead "
            f"(up to {calls} calls); --resume with a larger budget goes on from here"
        )

    def _finalists(self) -> list[Workflow]:
        return self.study.finalists() if self.study else []

    def _report(self, ended_by: EndedBy, message: str) -> SearchReport:
        spent = self.recording.tally.spent(self.recording.seconds)
        rows = (*self.reserve.rows, *self.finale.selected.values(), *self.finale.tested_rows)
        leaks = joined(row.leaks for row in rows)
        return SearchReport(
            self.recording.id,
            self.plan.task.name,
            ended_by,
            message or leak_message(leaks),
            self.plan.space,
            self.plan.method,
            self.recording.seed,
            sorted(self.study.trials if self.study else (), key=lambda trial: trial.number),
            self.finale,
            len(self.plan.task.split.test),
            spent,
            self.ranking,
            leaks=leaks,
        )


def _together(rows: Sequence[Row]) -> list[Row]:
    """All outcomes as one row: a single unlucky block of a search makes it no failure of the infrastructure."""
    outcomes = [outcome for row in rows for outcome in row.outcomes]
    return [Row("search", (), (), (), 1, outcomes)]
