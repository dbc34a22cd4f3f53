"""Coordinate ascent with restarts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from random import Random

import numpy as np

from treadle.search.settings import SearchSettings
from treadle.search.space import Space, Structure, Trial
from treadle.search.strategies.objective import Objective
from treadle.search.strategies.proposals import Proposals


class Greedy:
    """Varies one axis at a time from a random start, moves to the best, and starts again where no axis improves.

    The line of an axis is every valid point that differs in this axis only; where there is none, for each other value
    of the axis the nearest valid point that has it. While the results of a line are awaited, the lines of the next
    axes, around the best point known on the line, are proposed already, then random points.

    Args:
        space: A finite space with axes.
        seed: Seeds starts and the order of the axes.
        settings: Objective, λ and margin.

    Raises:
        UserError: The space has no axes.
    """

    def __init__(self, space: Space, seed: int, settings: SearchSettings) -> None:
        self._proposals = Proposals(space)
        self._objective = Objective.of(settings)
        self._codes = self._proposals.codes
        self._random = Random(seed)
        self._utilities: dict[int, float] = {}
        self._axes: list[int] = []
        self._idle = 0
        self._best = 0
        self._restart()

    def ask(self, count: int) -> Sequence[Structure]:
        """The next points that the ascent needs, or sensible ones in between."""
        asked: list[Structure] = []
        while len(asked) < count and self._proposals.free.any():
            self._advance()
            asked.append(self._proposals.propose(self._next()))
        return asked

    def tell(self, trials: Sequence[Trial]) -> None:
        """Learn results; a structure of which nothing was scored is never moved to."""
        self._proposals.tell(trials)
        self._utilities = self._objective.utilities(self._proposals)

    def _advance(self) -> None:
        """Decide every line whose results are complete."""
        while self._proposals.free.any():
            if self._idle == len(self._axes):
                self._restart()
            line = self._line(self._best, self._axes[0])
            if not all(map(self._proposals.ended, (self._best, *line))):
                return
            best = self._best_of(self._best, line)
            self._idle = 1 if best != self._best else self._idle + 1
            self._best = best
            self._axes = [*self._axes[1:], self._axes[0]]

    def _next(self) -> int:
        around = self._best_of(self._best, self._line(self._best, self._axes[0]))
        for place in self._wanted(around):
            if self._proposals.free[place]:
                return place
        return self._anywhere()

    def _wanted(self, around: int) -> Iterator[int]:
        yield self._best
        yield from self._line(self._best, self._axes[0])
        for axis in self._axes[1:]:
            yield from self._line(around, axis)

    def _restart(self) -> None:
        axes = list(range(self._codes.shape[1]))
        self._axes = self._random.sample(axes, len(axes))
        self._best, self._idle = self._anywhere(), 0

    def _anywhere(self) -> int:
        left = self._proposals.left
        return int(left[self._random.randrange(len(left))])

    def _best_of(self, incumbent: int, line: Sequence[int]) -> int:
        return max((incumbent, *line), key=lambda place: self._utilities.get(place, -inf))

    def _line(self, place: int, axis: int) -> list[int]:
        apart = np.abs(self._codes - self._codes[place])
        elsewhere = np.flatnonzero(apart[:, axis])
        differing = np.count_nonzero(apart[elsewhere], axis=1)
        alone = elsewhere[differing == 1]
        if len(alone) > 0:
            return alone.tolist()
        nearest: dict[int, int] = {}
        for row in np.lexsort((elsewhere, apart[elsewhere].sum(axis=1), differing)).tolist():
            nearest.setdefault(int(self._codes[elsewhere[row], axis]), int(elsewhere[row]))
        return sorted(nearest.values())
