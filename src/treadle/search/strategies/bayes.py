"""Bayesian optimisation over all structures of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from scipy.special import log_ndtr
from threadpoolctl import ThreadpoolController

from treadle.evaluation.statistics.clusters import FloatArray
from treadle.search.settings import SearchSettings
from treadle.search.space import Space, Structure, Trial
from treadle.search.strategies.objective import Objective, known_costs
from treadle.search.strategies.proposals import Observations, Proposals
from treadle.search.strategies.surrogate import Surrogate, log_expected_improvement

PAPER_START = 240
FEWEST_START, MOST_START = 8, 20


class Bayes:
    """Proposes the structure whose expected improvement is highest among all that were not proposed.

    It starts with points far from each other, twice as many as there are axes but 8 to 20; with the schedule ``paper``
    with 240 random ones (Archon, arXiv 2409.15254). What is to be beaten is the highest score that the
    surrogate, not the noise, gives to a structure already evaluated. Pending structures are thought to score what is
    expected of them. The arithmetic keeps to one thread: small matrices gain nothing from more, and wait for them.

    With a λ the surrogate learns score − λ·(cost − expected cost), and λ · expected cost is taken off its predictions.

    For ``cheapest`` every second proposal looks for the best score, which the margin is measured from; the others
    maximise the saving against the cheapest structure thought to be within the margin, times the probability to be
    within it (expected improvement under a constraint: Gardner et al., ICML 2014).

    Args:
        space: A finite space with axes.
        seed: Seeds the first structures.
        settings: Objective, λ, margin and schedule.

    Raises:
        UserError: The space has no axes.
    """

    def __init__(self, space: Space, seed: int, settings: SearchSettings) -> None:
        self._proposals = Proposals(space)
        self._objective = Objective.of(settings)
        self._features = self._proposals.features
        self._surrogate = Surrogate(self._features)
        self._threads: Any = ThreadpoolController()
        self._random = Random(seed)
        self._spread = settings.schedule != "paper"
        axes = len(self._proposals.grid.axes)
        self._start = min(max(2 * axes, FEWEST_START), MOST_START) if self._spread else PAPER_START
        self._distance: FloatArray = np.full(len(self._features), np.inf)

    def ask(self, count: int) -> Sequence[Structure]:
        """The next structures of the start, then those of the highest expected improvement."""
        asked: list[Structure] = []
        while len(asked) < count and self._proposals.free.any():
            asked.append(self._proposals.propose(self._next()))
        return asked

    def tell(self, trials: Sequence[Trial]) -> None:
        """Learn results; a structure of which nothing was scored is left out."""
        self._proposals.tell(trials)

    def _next(self) -> int:
        if len(self._proposals.order) < self._start:
            return self._starting_point()
        seen = self._proposals.observations()
        if len(seen) < 2:
            return self._starting_point()
        with self._threads.limit(limits=1, user_api="blas"):
            return self._promising(seen)

    def _starting_point(self) -> int:
        left = self._proposals.left
        if not self._proposals.order or not self._spread:
            return int(left[self._random.randrange(len(left))])
        latest = self._features[self._proposals.order[-1]]
        self._distance = np.minimum(self._distance, np.square(self._features - latest).sum(axis=1))
        return int(left[np.argmax(self._distance[left])])

    def _promising(self, seen: Observations) -> int:
        left, pending = self._proposals.left, self._proposals.pending
        costs = self._proposals.expected_costs() if self._objective.minds_cost else np.zeros(len(self._features))
        penalty = self._objective.weight * costs
        surplus = self._objective.weight * (known_costs(seen, costs) - costs[seen.places])
        scores = seen.scores - surplus
        values = self._surrogate.learn(seen.places, scores, seen.noise)
        considered = seen.places
        if pending:
            believed = self._surrogate.believe(seen.places, scores, seen.noise, pending)
            considered, values = np.concatenate([considered, pending]), np.concatenate([values, believed])
        best = float(np.max(values - penalty[considered]))
        mean, deviation = self._surrogate.predict(left)
        if self._objective.cheapest and len(self._proposals.order) % 2:
            least = best - self._objective.margin
            saving = float(costs[considered[values >= least]].min()) - costs[left]
            if saving.max() > 0:
                return int(left[_cheaper(saving, mean, deviation, least)])
        return int(left[np.argmax(log_expected_improvement(mean - penalty[left], deviation, best))])


def _cheaper(saving: FloatArray, mean: FloatArray, deviation: FloatArray, least: float) -> int:
    """Which saves most in expectation, by logarithms so that hopeless ones keep an order."""
    gain = np.log(np.where(saving > 0, saving, 1.0)) + log_ndtr((mean - least) / deviation)
    return int(np.argmax(np.where(saving > 0, gain, -np.inf)))
