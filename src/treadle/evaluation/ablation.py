"""Taking the parts of a workflow out one by one: what each brings, and what is left when the dead ones go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Unpack

from treadle.errors import UserError
from treadle.evaluation.ablation_report import GONE_WELL, AblationReport, Costs, Lean, PartFound
from treadle.evaluation.evaluate import Measurement, begin, report
from treadle.evaluation.found import prepare_measured
from treadle.evaluation.leak_lists import joined
from treadle.evaluation.measuring import Asked, Measuring, Progress
from treadle.evaluation.preparing import TaskLike, WorkflowLike, prepare_sandbox, prepare_task, spec_of
from treadle.evaluation.report import INFRA_SHARE, Row
from treadle.evaluation.statistics.holm import compare_rows
from treadle.evaluation.statistics.paired import ALPHA, Comparison, compare_paired, pair, paired_test
from treadle.ledger.keys import MAX_REPEATS
from treadle.ledger.recording import Recording
from treadle.ledger.session import Session
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow
from treadle.workflows.weakening import Divided, divide

UNITS = ("usd", "tokens", "calls")
"""In what a saving is counted: the first that is known and not nothing."""


async def ablate(
    session: Session,
    workflow: WorkflowLike,
    task: TaskLike,
    *,
    margin: float = 2.0,
    repeat: int = 1,
    **measuring: Unpack[Measuring],
) -> AblationReport:
    """Measure a workflow whole and without each of its parts; see `treadle.api.ablate` for the arguments."""
    begun = asyncio.get_running_loop().time()
    asked = Asked(**measuring)
    _check(margin, repeat)
    (found,), cast = await prepare_measured(session, [workflow], task, asked.models, asked.roles)
    divided = divide(found)
    workflows = measured_by(divided)
    opened = await prepare_task(session, task, **asked.preparing)
    await prepare_sandbox(session, opened, workflows)
    recording = await session.record(
        "ablate",
        task=opened.name,
        spec=spec_of(
            opened,
            workflows,
            models=list(cast.models),
            roles=dict(asked.roles),
            repeat=repeat,
            fresh=asked.fresh,
            margin=margin,
        ),
        cast=cast,
        budget=asked.budget,
        seed=asked.seed,
        fresh=asked.fresh,
        begun=begun,
    )
    begin(recording, asked.question_caps, opened, workflows)
    async with recording.closing() as ending:
        result = await _Ablation(recording, divided, opened, asked, repeat, margin).run()
        ending.ended_by = result.ended_by
        ending.document = result.document()
    return result


def _check(margin: float, repeat: int) -> None:
    if not (isfinite(margin) and margin >= 0):
        raise UserError(f"the margin must be 0 points or more, not {margin:g}")
    if not 1 <= repeat < MAX_REPEATS:
        raise UserError(f"repeat must be from 1 to {MAX_REPEATS - 1}, not {repeat}")


def measured_by(divided: Divided) -> list[Workflow]:
    """What an ablation measures before it knows what is dead: the whole, and what is left without each part."""
    return [divided.whole, *(part.left for part in divided.parts)]


@dataclass(slots=True)
class _Ablation:
    """An ablation within a command's run; ``rows`` grow by what is measured, the whole first."""

    recording: Recording
    divided: Divided
    task: Task
    asked: Asked
    repeat: int
    margin: float
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    ended_by: str = "done"
    message: str = ""

    async def run(self) -> AblationReport:
        """Measure, compare, and look for what is lean."""
        await self._measure(measured_by(self.divided))
        whole = self.rows[self.divided.whole.name]
        parts = self._compare(whole)
        lean = await self._lean(whole, parts) if self.ended_by == "done" else None
        spent = self.recording.tally.spent(self.recording.seconds)
        return AblationReport(
            self.recording.id,
            self.task.name,
            self.ended_by,
            self.message,
            self.margin,
            _least_margin(whole, len(parts)) if whole.complete else None,
            whole,
            parts,
            lean,
            spent,
            joined(row.leaks for row in self.rows.values()),
        )

    async def _measure(self, workflows: Sequence[Workflow]) -> None:
        before = sum(len(row.outcomes) for row in self.rows.values())
        watch = self.asked.watch

        def told(progress: Progress) -> None:
            if watch is not None:
                watch(Progress(before + progress.done, before + progress.total, progress.tally))

        measurement = Measurement(
            self.recording,
            workflows,
            self.task,
            self.task.samples,
            self.repeat,
            caps=self.asked.question_caps,
            concurrency=self.asked.concurrency,
            watch=told,
        )
        found = report(measurement, await measurement.run())
        self.rows |= {row.workflow: row for row in found.rows}
        self.ended_by, self.message = found.ended_by, found.message or self.message

    def _compare(self, whole: Row) -> list[PartFound]:
        """Each part's row against the whole's, all at one error; a row that is not complete says nothing."""
        rows = {part.name: self.rows[part.left.name] for part in self.divided.parts}
        measured = {name for name, row in rows.items() if row.complete and whole.complete}
        nothing = [nan] * len(whole.ids)
        scores = {name: _scores(row) if name in measured else nothing for name, row in rows.items()}
        found = compare_rows(scores, _scores(whole), list(whole.clusters), self.margin)
        return [
            PartFound(
                part,
                rows[part.name],
                found[part.name] if part.name in measured else None,
                _says_something(whole, rows[part.name]),
                _saves(whole, rows[part.name]) if part.name in measured else dict.fromkeys(whole.per_sample),
            )
            for part in self.divided.parts
        ]

    async def _lean(self, whole: Row, parts: Sequence[PartFound]) -> Lean | None:
        """Take everything dead out at once; while that is worse, put back what brings most."""
        taken = [found for found in parts if found.dead and _worth_taking(whole, found)]
        taken.sort(key=lambda found: -found.comparison.difference if found.comparison else 0.0)
        while True:
            left, used = self._joined(taken)
            if left is None:
                return None
            if left.name not in self.rows:
                await self._measure([left])
                if self.ended_by != "done":
                    return None
            row = self.rows[left.name]
            if row.leaks:
                return None
            comparison = self._against_whole(whole, row, parts)
            if comparison.verdict in GONE_WELL:
                names = tuple(found.part.name for found in parts if found in used)
                return Lean(left, names, row, comparison, _saves(whole, row))
            taken.remove(used[-1])

    def _joined(self, taken: Sequence[PartFound]) -> tuple[Workflow | None, list[PartFound]]:
        """What is left without as many of some parts as can go together, those that bring least first."""
        left: Workflow | None = None
        used: list[PartFound] = []
        for found in taken:
            further = self.divided.without([each.part for each in (*used, found)])
            if further is not None and (left is None or further.name != left.name):
                left, used = further, [*used, found]
        for found in used[:-1]:
            rest = [each for each in used if each is not found]
            less = self.divided.without([each.part for each in rest])
            if left is not None and less is not None and less.name == left.name:
                used = rest
        return left, used

    def _against_whole(self, whole: Row, row: Row, parts: Sequence[PartFound]) -> Comparison:
        known = next((found.comparison for found in parts if found.row is row and found.comparison), None)
        if known is not None:
            return known
        return compare_paired(_scores(row), _scores(whole), list(whole.clusters), self.margin, len(parts))


def _scores(row: Row) -> list[float]:
    """Score of each question in order, averaged over repeats; NaN where the provider failed."""
    scores = row.question_scores()
    return [scores.get(id, nan) for id in row.ids]


def _says_something(whole: Row, left: Row) -> bool:
    """Whether the provider held on both sides, and no hidden test stood in a prompt of either."""
    return max(whole.infra_share, left.infra_share) <= INFRA_SHARE and not whole.leaks and not left.leaks


def _least_margin(whole: Row, parts: int) -> float:
    """How many points even identical answers leave open."""
    scores = _scores(whole)
    return 100.0 * paired_test(pair(scores, scores, list(whole.clusters)), ALPHA / parts)[2]


def _saves(whole: Row, left: Row) -> Costs:
    saves: dict[str, float | None] = {}
    for unit, cost in whole.per_sample.items():
        less = left.per_sample[unit]
        saves[unit] = None if cost is None or less is None else cost - less
    return saves


def cost_unit(per_sample: Costs) -> str:
    """In what the cost of a question is counted: dollars where they are known, else tokens, else calls."""
    return next((unit for unit in UNITS if per_sample[unit]), "calls")


def _worth_taking(whole: Row, found: PartFound) -> bool:
    """Whether taking a dead part out gains something: a filter may cost less than what it spares."""
    return found.without == "better" or (found.saves[cost_unit(whole.per_sample)] or 0.0) > 0.0
