"""Coordinate ascent: lines, moves, restarts, and what it does while it waits."""

from __future__ import annotations

from itertools import product

import pytest

from treadle.search.settings import SearchSettings
from treadle.search.space import Point, Structure
from treadle.search.strategies.greedy import Greedy
from treadle.testing.surface import PointGrid, explore, trial

SIDE = tuple(range(6))
SQUARE = PointGrid({"a": SIDE, "b": SIDE}, tuple(product(SIDE, SIDE)), [1 + a + b for a, b in product(SIDE, SIDE)])


def point_of(structure: Structure) -> tuple[int, ...]:
    return tuple(int(value) for value in structure.name.split(":"))


def hill(structure: Structure) -> float:
    a, b = point_of(structure)
    return -abs(a - 4) / 10 - abs(b - 1) / 7


@pytest.mark.parametrize("seed", range(8))
def test_it_reaches_the_top_of_a_hill_one_axis_after_the_other(seed: int) -> None:
    course = [point_of(each) for each in explore(Greedy(SQUARE, seed, SearchSettings()), hill, 11)]
    (a, b), first_line = course[0], course[1:6]
    assert all(x == a for x, _ in first_line) or all(y == b for _, y in first_line)
    assert (4, 1) in course


@pytest.mark.parametrize("seed", range(4))
def test_it_starts_again_somewhere_else_when_no_axis_improves(seed: int) -> None:
    course = [point_of(each) for each in explore(Greedy(SQUARE, seed, SearchSettings()), hill, 17)]
    around = [point for point in course if 4 in point[:1] or 1 in point[1:]]
    assert len(around) == 11
    restart = next(point for point in course[11:] if point not in around)
    assert restart[0] != 4
    assert restart[1] != 1


@pytest.mark.parametrize("seed", range(4))
def test_while_results_are_missing_it_goes_on_with_the_next_axis_and_then_anywhere(seed: int) -> None:
    strategy = Greedy(SQUARE, seed, SearchSettings())
    course = [point_of(strategy.ask(1)[0]) for _ in range(len(SQUARE.points))]
    a, b = course[0]
    assert len({x == a for x, _ in course[1:6]}) == 1
    assert {point for point in course[:11] if point[0] == a or point[1] == b} == set(course[:11])
    assert len(set(course)) == len(SQUARE.points)


def test_a_batch_costs_little_more_than_one_by_one() -> None:
    for seed in range(4):
        course = [point_of(each) for each in explore(Greedy(SQUARE, seed, SearchSettings()), hill, 36, batch=8)]
        assert course.index((4, 1)) < 25


@pytest.mark.parametrize("seed", range(8))
def test_an_axis_that_never_changes_alone_is_varied_with_the_others(seed: int) -> None:
    many = tuple(range(8))
    points: tuple[Point, ...] = tuple((i, 7 - i, c) for i in many for c in range(3))
    grid = PointGrid({"a": many, "b": many, "c": (0, 1, 2)}, points, [1] * len(points))

    def score(structure: Structure) -> float:
        a, _, c = point_of(structure)
        return -abs(a - 5) / 10 + c / 50

    course = [point_of(each) for each in explore(Greedy(grid, seed, SearchSettings()), score, 10)]
    assert (5, 2, 2) in course


def test_structures_that_cost_more_than_they_bring_are_left() -> None:
    settings = SearchSettings(weight=1.0)
    course = [point_of(each) for each in explore(Greedy(SQUARE, 1, settings), hill, 11)]
    assert (0, 0) in course


def test_of_equally_good_structures_it_goes_to_the_cheapest() -> None:
    settings = SearchSettings(objective="cheapest", margin=2)
    course = list(explore(Greedy(SQUARE, 1, settings), lambda each: 0.0 if point_of(each)[0] >= 3 else -0.3, 16))
    assert (3, 0) in [point_of(each) for each in course[:11]]


def test_a_structure_that_lost_all_its_samples_is_not_moved_to() -> None:
    strategy = Greedy(SQUARE, 1, SearchSettings())
    start = strategy.ask(1)[0]
    strategy.tell([trial(0, start, 0.0)])
    line = strategy.ask(5)
    strategy.tell([trial(0, start, 0.0), *(trial(i, each, None) for i, each in enumerate(line, 1))])
    following = [point_of(each) for each in strategy.ask(5)]
    varied = 0 if point_of(line[0])[0] != point_of(start)[0] else 1
    assert {point[varied] for point in following} == {point_of(start)[varied]}
