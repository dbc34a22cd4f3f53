# ruff: noqa: D102 - the names of the tests say what they ask for
"""The contract of a search strategy as a test suite; subclass it to test a strategy of your own.

class TestMine(StrategyContract):
    def open(self, space, seed, settings):
        return Mine(space, seed, settings)
"""

from __future__ import annotations

import random
from functools import cache
from math import inf

import numpy as np
import pytest

from treadle.search.settings import SearchSettings
from treadle.search.space import Space, Strategy, Structure
from treadle.search.spaces.archon import ArchonSpace
from treadle.search.spaces.dials import Dials
from treadle.testing.surface import explore, surface_scores, trial


@cache
def small_grid() -> ArchonSpace:
    """A grid of 48 Archon structures: 1 to 4 models, 1 or 2 samples, no, 2 or 4 fusers, with and without a verifier."""
    dials = Dials(
        models=(1, 2, 3, 4),
        samples=(1, 2),
        fusion_layers=(1, 2),
        fusers=(2, 4),
        critic=(False,),
        check=("none", "verifier"),
    )
    return ArchonSpace("small", dials, (1, 2, 3, 4))


class StrategyContract:
    """What every `treadle.search.space.Strategy` over a finite space keeps to; a subclass overrides ``open``."""

    def open(self, space: Space, seed: int, settings: SearchSettings) -> Strategy:
        """The strategy to test."""
        raise NotImplementedError("override open")

    def _course(
        self, seed: int, evaluations: int = 30, batch: int = 8, settings: SearchSettings | None = None
    ) -> list[str]:
        strategy = self.open(small_grid(), seed, settings or SearchSettings(batch=batch))
        return [each.name for each in explore(strategy, small_score, evaluations, batch=batch)]

    @pytest.mark.parametrize("batch", [1, 8])
    def test_the_same_seed_and_results_give_the_same_proposals(self, batch: int) -> None:
        first = self._course(3, batch=batch)
        state = random.getstate()
        random.seed(99)
        np.random.seed(99)
        assert self._course(3, batch=batch) == first
        random.setstate(state)

    def test_global_random_numbers_are_left_alone(self) -> None:
        random.seed(5)
        np.random.seed(5)
        expected = random.Random(5).random(), np.random.RandomState(5).rand()
        self._course(1, evaluations=20)
        assert (random.random(), np.random.rand()) == expected

    def test_every_structure_is_proposed_once_and_then_none(self) -> None:
        names = sorted(each.name for each in small_grid().structures())
        for batch in (1, 8):
            assert sorted(self._course(1, evaluations=1000, batch=batch)) == names

    def test_no_more_is_proposed_than_asked_for_and_nothing_after_the_last(self) -> None:
        strategy = self.open(small_grid(), 1, SearchSettings())
        asked: list[Structure] = []
        while found := strategy.ask(7):
            assert len(found) <= 7
            asked += found
        assert len({each.name for each in asked}) == len(asked) == len(small_grid().structures())
        strategy.tell([trial(i, each, small_score(each)) for i, each in enumerate(asked)])
        assert list(strategy.ask(1)) == []

    def test_structures_of_which_nothing_was_scored_stop_nobody(self) -> None:
        strategy = self.open(small_grid(), 2, SearchSettings())
        assert len(list(explore(strategy, lambda _: None, 1000))) == len(small_grid().structures())
        strategy = self.open(small_grid(), 2, SearchSettings())
        lost = {each.name for each in small_grid().structures()[::2]}
        course = explore(strategy, lambda each: None if each.name in lost else small_score(each), 1000, batch=4)
        assert len(list(course)) == len(small_grid().structures())

    @pytest.mark.parametrize("price", [inf, 0.0])
    @pytest.mark.parametrize("settings", [SearchSettings(weight=0.01), SearchSettings(objective="cheapest")])
    def test_costs_that_are_unknown_or_nothing_are_no_hindrance(self, settings: SearchSettings, price: float) -> None:
        strategy = self.open(small_grid(), 1, settings)
        course = explore(strategy, small_score, 30, batch=4, cost=lambda _: price)
        assert len({each.name for each in course}) == 30

    @pytest.mark.parametrize("noise", [0.0, 0.3])
    def test_equal_scores_are_no_hindrance(self, noise: float) -> None:
        strategy = self.open(small_grid(), 1, SearchSettings())
        assert len({each.name for each in explore(strategy, lambda _: 0.0, 30, batch=4, noise=noise)}) == 30

    def test_a_space_of_one_structure_is_soon_over(self) -> None:
        lone = Dials(models=(1,), samples=(4,), fusion_layers=(1,), critic=(False,), check=("none",))
        strategy = self.open(ArchonSpace("lone", lone, (1,)), 1, SearchSettings())
        assert len(list(explore(strategy, lambda _: 0.0, 10))) == 1


@cache
def _small_scores() -> dict[str, float]:
    scores = (surface_scores(small_grid().points, 4) - 50.0) / 100.0
    return dict(zip([each.name for each in small_grid().structures()], scores.tolist(), strict=True))


def small_score(structure: Structure) -> float:
    """The score of a structure of `small_grid`, centred."""
    return _small_scores()[structure.name]
