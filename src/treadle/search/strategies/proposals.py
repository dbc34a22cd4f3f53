"""What a strategy over a grid has proposed, what came of it, and what the rest would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np
import numpy.typing as npt

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray
from treadle.search.space import Grid, Space, Structure, Trial

Places = npt.NDArray[np.intp]
LEAST_NOISE = 1e-3


@dataclass(frozen=True, slots=True)
class Observations:
    """Results that teach something, in the order of their proposals.

    Attributes:
        places: Which points of the grid.
        scores: Their ``centred`` differences, fractions.
        noise: Standard errors of these.
        costs: What a question cost, in the search's unit; infinite where it is not known.
    """

    places: Places
    scores: FloatArray
    noise: FloatArray
    costs: FloatArray

    def __len__(self) -> int:
        return len(self.places)


class Proposals:
    """Keeps count of a grid's points: free, pending or ended. Structures of which nothing was scored teach nothing.

    Args:
        space: A finite space with axes.

    Raises:
        UserError: The space has no axes to search along.
    """

    def __init__(self, space: Space) -> None:
        if not isinstance(space, Grid):
            raise UserError(f"space {space.name!r} has no axes to search along; take --method random or all")
        self.grid: Grid = space
        self.order: list[int] = []
        self._structures = space.structures()
        self.free = np.ones(len(self._structures), dtype=np.bool_)
        self._places: dict[str, int] = {}
        self._ended: dict[int, Trial] = {}

    def propose(self, place: int) -> Structure:
        """The structure of a point, which is pending from now on."""
        structure = self._structures[place]
        self._places[structure.name] = place
        self.order.append(place)
        self.free[place] = False
        return structure

    def tell(self, trials: Sequence[Trial]) -> None:
        """Take results in; those of structures that were not proposed here are left out."""
        for trial in trials:
            place = self._places.get(trial.structure.name)
            if place is not None:
                self._ended[place] = trial

    @property
    def left(self) -> Places:
        """Points that were not proposed."""
        return np.flatnonzero(self.free)

    @property
    def pending(self) -> list[int]:
        """Points that were proposed and have no result."""
        return [place for place in self.order if place not in self._ended]

    def ended(self, place: int) -> bool:
        """Whether a point was evaluated, scored or not."""
        return place in self._ended

    def observations(self) -> Observations:
        """All results in which something was scored."""
        found = [(place, self._ended[place]) for place in self.order if place in self._ended]
        rows = [
            (place, trial.centred, max(trial.noise or 0.0, LEAST_NOISE), trial.cost)
            for place, trial in found
            if trial.centred is not None and isfinite(trial.centred)
        ]
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)
        return Observations(table[:, 0].astype(np.intp), table[:, 1], table[:, 2], table[:, 3])

    @cached_property
    def features(self) -> FloatArray:
        """The grid's."""
        return self.grid.features()

    @cached_property
    def calls(self) -> FloatArray:
        """The grid's costs."""
        return self.grid.costs()

    def expected_costs(self) -> FloatArray:
        """What a question of every structure costs, in the search's unit: see `expected_costs`."""
        return expected_costs(self.features, self.calls, self.observations())

    @cached_property
    def codes(self) -> Places:
        """Points × axes: the position of every value on its axis."""
        positions = [{(type(value), value): i for i, value in enumerate(axis)} for axis in self.grid.axes.values()]
        return np.array(
            [
                [known[type(value), value] for known, value in zip(positions, point, strict=True)]
                for point in self.grid.points
            ],
            dtype=np.intp,
        )


def expected_costs(features: FloatArray, calls: FloatArray, seen: Observations) -> FloatArray:
    """What a question of every structure costs, in the search's unit: its calls times what a call costs.

    Cost per call differs with what is called, so its logarithm is a ridge regression on the features.

    Args:
        features: The grid's, structures × features.
        calls: Of a question, one number a structure.
        seen: Measured costs; unknown ones are left out.

    Returns:
        One number a structure; the calls themselves as long as no cost is known.
    """
    known = np.isfinite(seen.costs) & (calls[seen.places] > 0)
    if not known.any():
        return calls
    paid = known & (seen.costs > 0)
    if not paid.any():
        return np.zeros(len(calls))
    places = seen.places[paid]
    per_call = np.log(seen.costs[paid] / calls[places])
    middle = features[places].mean(axis=0)
    inputs = features[places] - middle
    normal: FloatArray = inputs.T @ inputs + np.eye(inputs.shape[1])
    moments: FloatArray = inputs.T @ (per_call - per_call.mean())
    slopes = np.linalg.solve(normal, moments).astype(np.float64)
    return calls * np.exp(per_call.mean() + (features - middle) @ slopes)
