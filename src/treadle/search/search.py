"""A search from beginning to honest end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from treadle.errors import UserError
from treadle.evaluation.estimate import one_workflow
from treadle.evaluation.evaluate import begin, ended
from treadle.evaluation.measuring import Asked, Measuring, Watch
from treadle.evaluation.preparing import TaskLike, prepare_cast, prepare_task, spec_of
from treadle.evaluation.report import Row
from treadle.ledger.budget import Amount, Budget
from treadle.ledger.recording import EndedBy, Recording
from treadle.ledger.session import Session, find_run
from treadle.search.closing_cost import closing_calls
from treadle.search.finale import Finale, standard_baselines
from treadle.search.report import SearchReport
from treadle.search.selection import FINALISTS, finalists
from treadle.search.settings import MOST_STRUCTURES, CostUnit, SearchSettings
from treadle.search.space import Space
from treadle.search.spaces.open import open_space, space_kind
from treadle.search.strategies.registry import check_method, open_strategy
from treadle.search.study import Study
from treadle.store.text import decode, encode
from treadle.tasks.decorator import UserTask
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow

NEEDS_PRICES = "--cost-unit usd needs prices: give each model and role price = { input = …, output = … }"
SAFETY = 1.2
"""How much more than expected is kept for selection and test."""


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
    method: str = "all",
    settings: SearchSettings | None = None,
    resume: str | None = None,
    **measuring: Unpack[Measuring],
) -> SearchReport:
    """Find a structure and test it honestly; see `treadle.search` for the arguments.

    ``resume`` names a run to go on with under its own id: what it paid for is neither lost nor paid again.
    """
    asked = Asked(**measuring)
    settings = settings or SearchSettings()
    opened, found = await open_search(session, space, task, method, settings, asked)
    spec = spec_of(opened, [], asked=_as_asked(space, task, method, settings, asked))
    if resume is not None:
        await _check_same(session, resume, spec)
    recording = await session.record(
        "search",
        task=opened.name,
        spec=spec,
        cast=prepare_cast(session, task, asked.models, asked.roles),
        budget=asked.budget,
        seed=asked.seed,
        fresh=asked.fresh,
        resume=resume,
    )
    begin(recording, asked.question_caps, opened)
    plan = _plan(recording, found, method, opened, settings, asked.question_caps)
    async with recording.closing() as ending:
        report = await _Search(recording, plan, asked.concurrency, asked.watch).run()
        ending.ended_by = report.ended_by
        ending.document = report.document()
    return report


async def open_search(
    session: Session, space: str, task: TaskLike, method: str, settings: SearchSettings, asked: Asked
) -> tuple[Task, Space]:
    """The task, with its split, and the space of a search.

    Raises:
        UserError: When something is wrong with what was asked.
    """
    check_method(space_kind(space), method)
    opened = await prepare_task(session, task, limit=asked.limit, drop_bad_gold=asked.drop_bad_gold)
    if settings.split_seed is not None:
        opened = replace(opened, seed=settings.split_seed)
    _ = opened.split  # refuses a task that is too small to be split
    return opened, open_space(space, Path.cwd())


def _as_asked(space: str, task: TaskLike, method: str, settings: SearchSettings, asked: Asked) -> dict[str, Any]:
    """What was asked, as JSON values: everything that a resumed search must have in common with it."""
    return {
        "space": space,
        "task": [task] if isinstance(task, str) else [] if isinstance(task, Task | UserTask) else list(task),
        "method": method,
        "settings": asdict(settings),
        "models": list(asked.models),
        "roles": dict(asked.roles),
        "limit": asked.limit,
        "fresh": asked.fresh,
        "seed": asked.seed,
        "budget": asdict(asked.budget or Budget()),
        "caps": asdict(asked.question_caps),
        "drop_bad_gold": asked.drop_bad_gold,
    }


async def _check_same(session: Session, run: str, spec: Mapping[str, Any]) -> None:
    """A resumed search must be the one that was begun; only its budget may differ."""
    record = await session.journal.read(lambda store: find_run(store, run))
    begun: dict[str, Any] = decode(record.spec)
    asked: dict[str, Any] = decode(encode(spec["asked"]))
    known: dict[str, Any] = begun.get("asked") or {}
    other = [name for name in asked if name != "budget" and asked[name] != known.get(name)]
    if begun.get("data") != spec["data"]:
        other.append("data")
    if other:
        raise UserError(
            f"run {run} was begun with other settings ({', '.join(other)}); it can only go on as it was begun"
        )


def _plan(recording: Recording, space: Space, method: str, task: Task, settings: SearchSettings, caps: Budget) -> Plan:
    if settings.cost_unit == "usd" and not recording.priced:
        raise UserError(NEEDS_PRICES)
    unit: CostUnit = settings.cost_unit or ("usd" if recording.priced else "tokens")
    most = min(settings.max_evals or MOST_STRUCTURES, space.valid or MOST_STRUCTURES)
    return Plan(space, method, task, settings, unit, caps, most)


@dataclass(slots=True)
class _Search:
    """The two parts of a search, and the money kept for the second."""

    recording: Recording
    plan: Plan
    concurrency: int | None
    watch: Watch | None
    study: Study = field(init=False)
    finale: Finale = field(init=False)

    def __post_init__(self) -> None:
        plan = self.plan
        self.study = Study(
            self.recording,
            plan.task,
            plan.task.split.search,
            open_strategy(plan.method, plan.space, self.recording.seed),
            plan.settings,
            plan.unit,
            plan.caps,
            plan.most,
            plan.most if plan.space.valid is not None else None,
            self.concurrency,
            self.watch,
            self._keep_for_later,
        )
        self.finale = Finale(
            self.recording, plan.task, plan.settings, plan.unit, plan.caps, self.concurrency, self.watch
        )

    async def run(self) -> SearchReport:
        """Search, select, test."""
        self._keep_for_later(self.study)
        if not self.recording.account.covers(Amount()):
            return self._report("budget", self._too_small())
        ended_by = await self.study.explore()
        message = str(self.recording.limit or "") if ended_by == "budget" else ""
        self.recording.account.set_aside(Amount())
        chosen = self._finalists()
        if ended_by != "interrupt" and chosen and self.study.trials:
            self.recording.limit = None if self.recording.in_time else self.recording.limit
            ending = await self.finale.run(chosen)
            ended_by = ended_by if ending == "done" else ending
            message = message or str(self.recording.limit or "")
        rows = [*self.study.rows, *self.finale.selected.values()]
        ended_by = ended(ended_by, _together(rows))
        if ended_by == "infra" and not message:
            message = next((f"the provider failed: {row.first_failure}" for row in rows if row.first_failure), "")
        return self._report("infra" if ended_by == "done" and not self.finale.usable else ended_by, message)

    def _finalists(self) -> list[Workflow]:
        trials = {trial.structure.name: trial for trial in self.study.trials}
        structures = {trial.structure.name: trial.structure.workflow for trial in self.study.trials}
        if self.study.racing:
            names: Sequence[str] = finalists(self.study.race.standing())
        else:
            weight = self.plan.settings.weight
            whole = [trial for trial in trials.values() if trial.score is not None]
            whole.sort(key=lambda trial: weight * trial.cost - (trial.score or 0.0))
            names = [trial.structure.name for trial in whole[:FINALISTS]]
        return [structures[name] for name in names if name in structures]

    def _too_small(self) -> str:
        """Why a budget cannot be begun with, and what would do."""
        task, budget = self.plan.task, self.recording.account.budget
        workflows = [each.workflow for each in self.plan.space.structures()[: self.plan.most]]
        _, closing = closing_calls(task, self.plan.settings, workflows)
        calls = len(task.split.search) * sum(workflow.calls.high or workflow.calls.low for workflow in workflows)
        tokens, usd = self._per_call(self.study)
        needs = {
            "usd": f"--budget-usd {SAFETY * (calls + closing) * usd:.3g}",
            "calls": f"--budget-calls {calls + closing}",
            "tokens": f"--budget-tokens {SAFETY * (calls + closing) * tokens:.0f}",
        }
        asked = [text for unit, text in needs.items() if getattr(budget, unit) is not None]
        return (
            f"the budget does not cover what selection and test can take (up to {closing} calls), so nothing was begun;"
            f" {' '.join(asked)} would do for the whole search"
        )

    def _keep_for_later(self, study: Study) -> None:
        """Set aside what selection and test will cost, as far as is known by now."""
        budget = self.recording.account.budget
        if budget.calls is None and budget.usd is None and budget.tokens is None:
            return
        alive = [trial.structure.workflow for trial in study.trials if trial.stopped_at is None]
        possible = alive or [each.workflow for each in self.plan.space.structures()[: self.plan.most]]
        _, calls = closing_calls(self.plan.task, self.plan.settings, possible)
        tokens, usd = self._per_call(study)
        self.recording.account.set_aside(Amount(calls, int(SAFETY * calls * tokens), SAFETY * calls * usd))

    def _per_call(self, study: Study) -> tuple[float, float]:
        outcomes = [outcome for row in study.rows for outcome in row.outcomes if outcome.finished]
        calls = sum(outcome.calls for outcome in outcomes)
        if calls:
            return sum(o.tokens for o in outcomes) / calls, sum(o.usd or 0.0 for o in outcomes) / calls
        single = standard_baselines(self.plan.task)[0]
        first = one_workflow(single, self.plan.task.split.search, self.recording.endpoint())
        count = max(1.0, first.calls.low)
        return first.tokens.low / count, (first.usd.low / count if first.usd else 0.0)

    def _report(self, ended_by: EndedBy, message: str) -> SearchReport:
        tally = self.recording.tally
        spent = {
            "usd": tally.total_usd,
            "calls_logical": tally.logical,
            "calls_paid": tally.paid,
            "tokens": tally.usage.total,
            "seconds": self.recording.seconds,
        }
        return SearchReport(
            self.recording.id,
            self.plan.task.name,
            ended_by,
            message,
            self.plan.space,
            self.plan.method,
            self.recording.seed,
            sorted(self.study.trials, key=lambda trial: trial.number),
            self.finale,
            len(self.plan.task.split.test),
            spent,
        )


def _together(rows: Sequence[Row]) -> list[Row]:
    """All outcomes as one row: a single unlucky block of a search makes it no failure of the infrastructure."""
    outcomes = [outcome for row in rows for outcome in row.outcomes]
    return [Row("search", (), (), (), 1, outcomes)]
