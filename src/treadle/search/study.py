"""The searching part of a search: suggestions meet the search questions block by block and race."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from statistics import fmean

from treadle.evaluation.evaluate import Measurement
from treadle.evaluation.measuring import Progress, Watch
from treadle.evaluation.outcome import Outcome
from treadle.evaluation.report import Row
from treadle.ledger.budget import Budget
from treadle.ledger.recording import EndedBy, Recording
from treadle.search.finale import cost_of
from treadle.search.racing import Race
from treadle.search.selection import FINALISTS, finalists
from treadle.search.settings import CostUnit, SearchSettings
from treadle.search.space import Strategy, Structure, Trial
from treadle.tasks.base import Sample
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow

LEAST_BLOCK = 4
BLOCKS = 6


@dataclass(slots=True)
class _Runner:
    """A structure on its way through the blocks."""

    number: int
    structure: Structure
    blocks: int = 0
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    trial: Trial | None = None


@dataclass(slots=True)
class Study:
    """Suggestions being evaluated on the search part.

    Rounds: in each, every structure that is still running meets its next block; then the race decides. A suggestion is
    asked for as soon as all trials up to ``batch`` places before it have ended, and the strategy has then been told
    exactly those, so the course of a search does not depend on how much runs at once.

    Attributes:
        recording: The command's run.
        task: The task whose search part this is.
        samples: The search part.
        strategy: Who proposes.
        settings: How the search is run.
        unit: What cost is counted in.
        caps: Caps of one question.
        most: Structures evaluated at most.
        planned: How many will race in all, where that is known.
        after_round: Called after every round.
        trials: What has ended, in that order.
        rows: Everything measured; each round adds to it.
    """

    recording: Recording
    task: Task
    samples: Sequence[Sample]
    strategy: Strategy
    settings: SearchSettings
    unit: CostUnit
    caps: Budget
    most: int
    planned: int | None = None
    concurrency: int | None = None
    watch: Watch | None = None
    after_round: Callable[[Study], None] | None = None
    trials: list[Trial] = field(default_factory=list[Trial])
    rows: list[Row] = field(default_factory=list[Row])
    race: Race = field(init=False)
    _blocks: list[list[list[Sample]]] = field(init=False)
    _runners: list[_Runner] = field(default_factory=list[_Runner])
    _told: int = 0

    def __post_init__(self) -> None:
        self._blocks = blocks_of(self.samples, self.settings.block)
        self.race = Race(block=len(self._blocks[0]), structures=self.planned)

    @property
    def structures(self) -> dict[str, Structure]:
        """Everything suggested so far, by name."""
        return {runner.structure.name: runner.structure for runner in self._runners}

    @property
    def alive(self) -> list[Structure]:
        """What may still become a finalist: everything suggested that the race has not dropped."""
        return [each for each in self.structures.values() if not self.race.is_dropped(each.name)]

    @property
    def racing(self) -> bool:
        """Whether structures may stop early: not where the objective counts cost, which the race does not see."""
        return self.settings.race and self.settings.weight == 0

    def finalists(self) -> list[Workflow]:
        """What is worth measuring again, the best first; nothing in whose prompts a hidden test stood."""
        leaking = {row.workflow for row in self.rows if row.leaks}
        trials = [trial for trial in self.trials if trial.structure.name not in leaking]
        whole = [trial for trial in trials if trial.score is not None and trial.samples == len(self.samples)]
        if self.racing or not whole:
            known = self.structures
            standing = [row for row in self.race.standing() if row.structure not in leaking]
            return [known[name].workflow for name in finalists(standing)]
        weight = self.settings.weight
        whole.sort(key=lambda trial: weight * trial.cost - (trial.score or 0.0))
        return [trial.structure.workflow for trial in whole[:FINALISTS]]

    async def explore(self) -> EndedBy:
        """Evaluate suggestions until there are no more, the budget ends it, or the user does."""
        while True:
            self._suggest()
            running = [runner for runner in self._runners if runner.trial is None]
            if not running:
                return "done"
            ended_by = await self._round(running)
            if ended_by != "done":
                self._cut_off(running)
                return ended_by
            self._settle(running)
            if self.after_round is not None:
                self.after_round(self)

    def _suggest(self) -> None:
        while (number := len(self._runners)) < self.most:
            seen = max(0, number - self.settings.batch + 1)
            if any(runner.trial is None for runner in self._runners[:seen]):
                return
            if seen > self._told:
                self.strategy.tell(self._known(seen))
                self._told = seen
            asked = self.strategy.ask(1)
            if not asked:
                return
            self._runners.append(_Runner(number, asked[0]))
            self.race.enter(asked[0].name)

    def _known(self, seen: int) -> list[Trial]:
        """The first trials, with what is known by now of how they differ from each other."""
        first = [runner.trial for runner in self._runners[:seen] if runner.trial is not None]
        points = self._differences([trial.structure.name for trial in first])
        return [replace(trial, **points.get(trial.structure.name, {})) for trial in first]

    def _differences(self, among: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
        return {
            point.structure: {"centred": point.difference, "noise": point.noise}
            for point in self.race.centred_differences(among)
        }

    async def _round(self, running: Sequence[_Runner]) -> EndedBy:
        measurements: list[tuple[Measurement, list[_Runner]]] = []
        for block in sorted({runner.blocks for runner in running}):
            meeting = [runner for runner in running if runner.blocks == block]
            samples = [sample for cluster in self._blocks[block] for sample in cluster]
            measurement = Measurement(
                self.recording,
                [runner.structure.workflow for runner in meeting],
                self.task,
                samples,
                self.settings.search_repeat,
                caps=self.caps,
                concurrency=self.concurrency,
            )
            measurements.append((measurement, meeting))
        ends = await asyncio.gather(*(measurement.run() for measurement, _ in measurements))
        for measurement, meeting in measurements:
            self.rows += measurement.rows
            for runner, row in zip(meeting, measurement.rows, strict=True):
                runner.outcomes += row.outcomes
        self._show_progress()
        for end in ends:
            if end != "done":
                return end
        return "done"

    def _show_progress(self) -> None:
        if self.watch is not None:
            done = sum(len({outcome.id for outcome in runner.outcomes}) for runner in self._runners)
            dropped = sum(runner.trial is not None and runner.trial.stopped_at is not None for runner in self._runners)
            total = max(done, (self.most - dropped) * len(self.samples))
            self.watch(Progress(done, total, self.recording.tally))

    def _settle(self, running: Sequence[_Runner]) -> None:
        for runner in running:
            block = self._blocks[runner.blocks]
            runner.blocks += 1
            self.race.tell(runner.structure.name, [_mean(runner.outcomes, cluster) for cluster in block])
        points = self._differences()
        for runner in running:
            over = self.racing and self.race.is_dropped(runner.structure.name)
            if over or runner.blocks == len(self._blocks):
                trial = self._trial(runner, stopped=over and runner.blocks < len(self._blocks))
                runner.trial = replace(trial, **points.get(trial.structure.name, {}))
                self.trials.append(runner.trial)

    def _cut_off(self, running: Sequence[_Runner]) -> None:
        """What is known of the structures that were still running when the search was ended."""
        points = self._differences()
        for runner in running:
            if runner.blocks:
                trial = self._trial(runner, stopped=False)
                self.trials.append(replace(trial, **points.get(trial.structure.name, {})))

    def _trial(self, runner: _Runner, stopped: bool) -> Trial:
        scores = [outcome.score for outcome in runner.outcomes if outcome.score is not None]
        per_sample = Row("", (), (), (), 1, runner.outcomes).per_sample
        met = len({outcome.id for outcome in runner.outcomes})
        return Trial(
            runner.number,
            runner.structure,
            met,
            fmean(scores) if scores else None,
            None,
            None,
            cost_of(per_sample, self.unit),
            per_sample,
            met if stopped else None,
        )


def _mean(outcomes: Sequence[Outcome], cluster: Sequence[Sample]) -> float:
    ids = {sample.id for sample in cluster}
    scores = [outcome.score for outcome in outcomes if outcome.id in ids and outcome.score is not None]
    return fmean(scores) if scores else nan


def blocks_of(samples: Sequence[Sample], size: int | None) -> list[list[list[Sample]]]:
    """The blocks of a race, in the order in which every structure meets them; rows of one group stay together.

    Args:
        samples: The search part.
        size: Clusters a block; ``None`` is a sixth of them, at least 4.
    """
    clusters: dict[str, list[Sample]] = {}
    for sample in samples:
        clusters.setdefault(sample.group or sample.id, []).append(sample)
    units = list(clusters.values())
    width = size or max(LEAST_BLOCK, -(-len(units) // BLOCKS))
    return [units[start : start + width] for start in range(0, len(units), width)]
