"""The honest end of a search: finalists measured again, a winner, and one opening of the test part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from treadle.errors import RunLimitError
from treadle.evaluation.estimate import JUDGE_CALLS
from treadle.evaluation.evaluate import Measurement
from treadle.evaluation.measuring import Watch
from treadle.evaluation.report import INFRA_SHARE, Row
from treadle.evaluation.statistics.power import detectable_difference
from treadle.ledger.budget import Budget
from treadle.ledger.recording import EndedBy, Recording
from treadle.search.openings import open_test_part
from treadle.search.selection import SAME_COST, Measured, choose_cheapest, choose_winner, equal_cost, overall
from treadle.search.settings import CostUnit, SearchSettings
from treadle.search.verdict import Contender, NamedComparison, against_itself, conclude, detectable
from treadle.tasks.base import Sample
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow
from treadle.workflows.registry import open_workflow

SELECTION, TEST = 1, 2
MOST_VOTES = 64
VOTES = 5


@dataclass(slots=True)
class Finale:
    """Selection and test of a search.

    Attributes:
        recording: The command's run.
        task: The task, with its split.
        settings: How the search is run.
        unit: What cost is counted in.
        caps: Caps of one question.
        covers: Whether what is left of the budget covers so many calls more.
        selected: Rows of the selection part by name.
        winner: The winner's workflow, once there is one; none that leaked hidden tests.
        tested: The winner's row of the test part, once it was opened.
        tested_rows: All rows of the test part.
        comparisons: What the test says.
        opened: The how-manieth opening of this test part it was; 0 while it is closed.
        detectable: Points that the test could have shown, or can.
    """

    recording: Recording
    task: Task
    settings: SearchSettings
    unit: CostUnit
    caps: Budget
    covers: Callable[[float], bool]
    concurrency: int | None = None
    watch: Watch | None = None
    selected: dict[str, Row] = field(default_factory=dict[str, Row])
    baselines: list[str] = field(default_factory=list[str])
    winner: Workflow | None = None
    tested: Row | None = None
    tested_rows: list[Row] = field(default_factory=list[Row])
    comparisons: tuple[NamedComparison, ...] = ()
    opened: int = 0
    detectable: float | None = None

    async def run(self, finalists: Sequence[Workflow]) -> EndedBy:
        """Measure finalists and baselines on the selection part, choose, and test the winner."""
        basics = standard_baselines(self.task)
        self.baselines = [workflow.name for workflow in basics]
        everybody = {workflow.name: workflow for workflow in (*finalists, *basics)}
        ended_by = await self._select(list(everybody.values()))
        if ended_by != "done":
            return ended_by
        measured = [self._measured(each.name) for each in finalists if not self.selected[each.name].leaks]
        if not measured:
            return "done"
        if overall(measured) is None:
            return "infra"
        winner = self._choose(measured)
        self.winner = everybody[winner.name]
        if winner.name not in self.baselines:
            paid_for = self._votes_for(winner.cost)
            if paid_for is not None:
                everybody.setdefault(paid_for.name, paid_for)
                self.baselines.append(paid_for.name)
                ended_by = await self._select([paid_for] if paid_for.name not in self.selected else [])
                if ended_by != "done":
                    return ended_by
        if winner.name in self.baselines:
            self.comparisons = against_itself(winner.name)
            self.detectable = self._detectable_before()
            return "done"
        baselines = [self._measured(name) for name in self.baselines]
        same_cost, best = equal_cost(baselines, winner.cost), overall(baselines)
        return await self._test(self.winner, *(everybody[each.name] if each else None for each in (same_cost, best)))

    @property
    def usable(self) -> bool:
        """Whether the provider held: with more than 5 % failures on either side of the test no verdict is given."""
        return all(row.infra_share <= INFRA_SHARE for row in self.tested_rows)

    def _choose(self, measured: Sequence[Measured]) -> Measured:
        groups = [sample.group or sample.id for sample in self.task.split.selection]
        weight = self.settings.weight
        if weight:
            return max(measured, key=lambda each: each.mean - weight * each.cost if isfinite(each.mean) else -inf)
        if self.settings.objective == "cheapest":
            return choose_cheapest(measured, self.settings.margin, groups)
        return choose_winner(measured, groups)

    async def _select(self, workflows: Sequence[Workflow]) -> EndedBy:
        measurement = self._measurement(workflows, self.task.split.selection, 1, SELECTION)
        ended_by = await measurement.run()
        self.selected.update({row.workflow: row for row in measurement.rows})
        return ended_by

    def _measurement(
        self, workflows: Sequence[Workflow], samples: Sequence[Sample], repeats: int, phase: int
    ) -> Measurement:
        return Measurement(
            self.recording,
            workflows,
            self.task,
            samples,
            repeats,
            phase,
            self.caps,
            self.concurrency,
            self.watch,
        )

    def _measured(self, name: str) -> Measured:
        row = self.selected[name]
        return Measured(name, scores_of(row), cost_of(row.per_sample, self.unit))

    def _votes_for(self, cost: float) -> Workflow | None:
        """The voting baseline with as many answers as the winner's cost pays for, where five is not that."""
        name = self.baselines[-1]
        if not isfinite(cost):
            return None
        votes = min(MOST_VOTES, int((1.0 + SAME_COST) * VOTES * cost / (self._measured(name).cost or cost or 1.0)))
        if votes < 2 or votes == VOTES:
            return None
        return open_workflow(f"{name.partition('?')[0]}?n={votes}", folder=Path.cwd())

    async def _test(self, winner: Workflow, same_cost: Workflow | None, best: Workflow | None) -> EndedBy:
        contenders = list(dict.fromkeys(each for each in (winner, same_cost, best) if each is not None))
        if not self._affordable(contenders):
            return "budget"
        repeats = self.settings.test_repeat
        self.opened = await open_test_part(self.recording, self.task, contenders, repeats)
        groups = [sample.group or sample.id for sample in self.task.split.test]
        rows: dict[str, Row] = {}
        sequence = [each for each in (same_cost, best) if each is not None]
        for baseline in sequence:
            wanted = [each for each in (winner, baseline) if each.name not in rows]
            if wanted:
                measurement = self._measurement(wanted, self.task.split.test, self.settings.test_repeat, TEST)
                ended_by = await measurement.run()
                rows.update({row.workflow: row for row in measurement.rows})
                self.tested = rows[winner.name]
                self.tested_rows = list(rows.values())
                if rows[winner.name].leaks:
                    self.winner, self.comparisons = None, ()
                if ended_by != "done" or self.winner is None:
                    return ended_by
            tested = {name: Contender(name, scores_of(row)) for name, row in rows.items()}
            first = tested.get(same_cost.name) if same_cost else None
            last = tested.get(best.name) if best and (baseline is best or best.name in tested) else None
            self.comparisons = conclude(
                tested[winner.name], first, last, groups=groups, margin=self.settings.margin, opened=self.opened
            )
            self.detectable = detectable(tested[winner.name], tested[baseline.name], groups=groups, opened=self.opened)
            if self.comparisons[-1].comparison.verdict != "better":
                break
        return "done"

    def _affordable(self, contenders: Sequence[Workflow]) -> bool:
        """Whether the budget covers the whole test: a test part half looked at is spent for nothing."""
        turns = sum(1 + len(sample.further) for sample in self.task.split.test)
        judging = JUDGE_CALLS[1] if self.task.scorer.judged else 0
        fresh = sum(self.selected[workflow.name].per_sample["calls"] or 0.0 for workflow in contenders)
        calls = self.settings.test_repeat * (fresh * len(self.task.split.test) + judging * turns * len(contenders))
        if self.covers(calls):
            return True
        self.recording.limit = RunLimitError(
            "calls",
            f"what is left of the budget does not cover the test part (about {calls:.0f} calls); it stays closed",
        )
        return False

    def _detectable_before(self) -> float | None:
        questions = len({sample.group or sample.id for sample in self.task.split.test})
        return detectable_difference(questions, repeats=self.settings.test_repeat)


def cost_of(per_sample: Mapping[str, float | None], unit: CostUnit) -> float:
    """Fresh cost of a question; infinite where it is not known, so that nothing unknown passes for cheap."""
    cost = per_sample[unit]
    return inf if cost is None else cost


def scores_of(row: Row) -> Any:
    """Score of each question of a row in order, averaged over repeats; NaN where none was scored."""
    scores = row.question_scores()
    return np.array([scores.get(id, nan) for id in row.ids])


def standard_baselines(task: Task) -> list[Workflow]:
    """What every winner must answer to.

    One call, chain of thought, and five answers: voted on or, where answers have no equality, judged.
    """
    several = "best-of-n" if task.scorer.judged else "self-consistency"
    return [open_workflow(spec, folder=Path.cwd()) for spec in ("single", "cot", f"{several}?n={VOTES}")]
