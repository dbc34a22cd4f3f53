"""What a strategy maximises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treadle.evaluation.statistics.clusters import FloatArray
from treadle.search.settings import SearchSettings
from treadle.search.strategies.proposals import Observations, Proposals


@dataclass(frozen=True, slots=True)
class Objective:
    """Score − λ·cost, or ``cheapest``: the cheapest structure within a margin of the best.

    With a λ the objective is score − λ·cost, whatever else was asked.

    Attributes:
        weight: λ, in fractions of the score per unit of cost.
        margin: A fraction of the score.
        cheapest: Whether the cheapest is looked for.
    """

    weight: float
    margin: float
    cheapest: bool

    @classmethod
    def of(cls, settings: SearchSettings) -> Objective:
        """The objective of a search."""
        return cls(settings.weight, settings.margin / 100.0, settings.objective == "cheapest" and settings.weight == 0)

    @property
    def minds_cost(self) -> bool:
        """Whether cost plays a part."""
        return self.cheapest or self.weight > 0

    def utilities(self, proposals: Proposals) -> dict[int, float]:
        """One number for every scored point, higher is better; a cost that is not known is the expected one.

        With ``cheapest`` all that are behind the best by no more than the margin, or their own standard error if that
        is more, come before all others, the cheapest of them first.
        """
        seen = proposals.observations()
        values = seen.scores
        if len(seen) > 0 and self.minds_cost:
            costs = known_costs(seen, proposals.expected_costs())
            values = self._cheapest_first(seen, costs) if self.cheapest else values - self.weight * costs
        return dict(zip(seen.places.tolist(), values.tolist(), strict=True))

    def _cheapest_first(self, seen: Observations, costs: FloatArray) -> FloatArray:
        best = float(seen.scores.max())
        within = seen.scores >= best - np.maximum(self.margin, seen.noise)
        return np.where(within, best + 1.0 - costs / (float(costs.max()) or 1.0), seen.scores)


def known_costs(seen: Observations, expected: FloatArray) -> FloatArray:
    """Measured costs of the results, expected ones where none was measured."""
    return np.where(np.isfinite(seen.costs), seen.costs, expected[seen.places])
