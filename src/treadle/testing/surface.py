"""A surface to try search strategies on: Archon structures with scores from a formula, no models and no calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.search.space import Point, Strategy, Structure, Trial, Value
from treadle.workflows.base import Calls, Workflow

CHECKS = ("none", "verifier", "unit_tests")


async def _no_answer(problem: Problem, run: Run) -> str:
    raise UserError("a point of a grid that only has scores cannot answer")


@dataclass(frozen=True)
class PointGrid:
    """A `treadle.search.space.Grid` of points with scores and no workflows behind them.

    Attributes:
        axes: Their values; features are their places on the axes.
        points: The valid ones.
        calls: Of a question, one number a point.
    """

    axes: Mapping[str, tuple[Value, ...]]
    points: Sequence[Point]
    calls: Sequence[int]
    name: str = "points"

    @property
    def raw(self) -> int:
        """Combinations of the axes."""
        return int(np.prod([len(values) for values in self.axes.values()]))

    @property
    def valid(self) -> int:
        """Points."""
        return len(self.points)

    def structures(self) -> Sequence[Structure]:
        """One structure a point, named by its values."""
        names = [":".join(map(str, point)) for point in self.points]
        flows = [Workflow(name, _no_answer, Calls.exactly(n)) for name, n in zip(names, self.calls, strict=True)]
        return [Structure(flow.name, flow) for flow in flows]

    def features(self) -> FloatArray:
        """Places on the axes, from 0 to 1."""
        axes = list(self.axes.values())
        rows = [[axis.index(value) for axis, value in zip(axes, point, strict=True)] for point in self.points]
        return np.array(rows, dtype=np.float64) / [max(1, len(axis) - 1) for axis in axes]

    def costs(self) -> FloatArray:
        """Calls of one question."""
        return np.array(self.calls, dtype=np.float64)

    def document(self) -> dict[str, Any]:
        """Name, counts and axes as JSON values."""
        axes = {axis: list(values) for axis, values in self.axes.items()}
        return {"name": self.name, "raw": self.raw, "valid": self.valid, "axes": axes, "constraints": []}


def surface_scores(points: Sequence[Point], seed: int) -> FloatArray:
    """True scores in points: mean 50, standard deviation 7.5, with 0.8 points of their own for every structure.

    Candidates bring less and less; models beyond a number drag the rest down; a fusion layer brings less than the one
    before, more fusers saturate, and a funnel that widens loses; what a check brings depends on how much was fused
    and on how many models there are.

    Args:
        points: Of an `ArchonSpace`.
        seed: Each is another surface.
    """
    random = np.random.default_rng([seed, 9576])
    table = np.array([[int(value or 0) for value in point[:5]] for point in points], dtype=np.float64).T
    models, samples, fusers = table[0], table[1], table[2:]
    check = np.array([CHECKS.index(str(point[-1])) for point in points])
    layers = np.count_nonzero(fusers, axis=0)
    saturation, strength = random.uniform(2.0, 10.0), random.uniform(0.5, 1.5, 3)
    crowd = np.maximum(0.0, models - random.integers(4, 10))
    generated = 3.0 * strength[0] * (1.0 - np.exp(-models * samples / saturation)) - random.uniform(0.05, 0.25) * crowd
    fused = 3.0 * strength[1] * (np.cumprod(random.uniform(0.2, 0.8, 3)) @ (fusers / (fusers + 2.0)))
    widening = np.maximum(0.0, np.diff(fusers, axis=0)).sum(axis=0)
    checked = random.normal(0.0, 0.6, (3, 4))[check, layers] + random.normal(0.0, 0.2, 3)[check] * np.log(models)
    scores = generated + fused - 0.08 * strength[2] * widening + checked
    scores = (scores - scores.mean()) / (scores.std() or 1.0)
    return 50.0 + 7.46 * scores + random.normal(0.0, 0.8, len(scores))


def explore(
    strategy: Strategy,
    score: Callable[[Structure], float | None],
    evaluations: int,
    *,
    batch: int = 1,
    noise: float = 0.015,
    cost: Callable[[Structure], float] | None = None,
) -> Iterator[Structure]:
    """Ask and tell as a search does: suggestion k sees the results of suggestions up to k − batch.

    Args:
        strategy: Who proposes.
        score: What a structure is found to score, a fraction: ``centred`` of its trial.
        evaluations: Suggestions at most.
        batch: As in the settings of a search.
        noise: What the trials say of the scores.
        cost: Of a question; the structure's calls when not given.

    Yields:
        The suggestions, as they are made.
    """
    trials: list[Trial] = []
    told = 0
    while len(trials) < evaluations:
        seen = max(0, len(trials) - batch + 1)
        if seen > told:
            strategy.tell(trials[:seen])
            told = seen
        asked = strategy.ask(1)
        if not asked:
            return
        price = float(asked[0].workflow.calls.low) if cost is None else cost(asked[0])
        trials.append(trial(len(trials), asked[0], score(asked[0]), noise, price))
        yield asked[0]


def trial(number: int, structure: Structure, score: float | None, noise: float = 0.015, cost: float = 1.0) -> Trial:
    """What a search would tell of a structure."""
    known = None if score is None else noise
    return Trial(number, structure, 40, score, score, known, cost, {"calls": cost})
