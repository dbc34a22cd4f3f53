"""Gaussian process and expected improvement: starts, noise, pending structures, cost."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from treadle.evaluation.statistics.clusters import FloatArray
from treadle.search.settings import SearchSettings
from treadle.search.space import Structure
from treadle.search.strategies.bayes import Bayes
from treadle.search.strategies.proposals import Places
from treadle.search.strategies.surrogate import Surrogate, log_expected_improvement
from treadle.testing.surface import PointGrid, explore, trial

SIDE = tuple(range(20))
SQUARE = PointGrid({"a": SIDE, "b": SIDE}, tuple(product(SIDE, SIDE)), [1 + a for a, _ in product(SIDE, SIDE)])
LINE = PointGrid({"x": tuple(range(101))}, tuple((x,) for x in range(101)), [1] * 101)


def point_of(structure: Structure) -> tuple[int, ...]:
    return tuple(int(value) for value in structure.name.split(":"))


def hill(structure: Structure) -> float:
    a, b = point_of(structure)
    return -(((a - 13) / 20) ** 2) - ((b - 4) / 20) ** 2


def ask_after(scores: dict[int, tuple[float, float]], proposals: int, seed: int = 1) -> list[int]:
    """What is proposed on the line when points were found to score so, with so much noise."""
    strategy = Bayes(LINE, seed, SearchSettings())
    asked = [strategy.ask(1)[0] for _ in range(8)]
    trials = [trial(i, each, *scores[point_of(each)[0]]) for i, each in enumerate(asked)]
    strategy.tell(trials)
    return [point_of(strategy.ask(1)[0])[0] for _ in range(proposals)]


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("seed", range(3))
def test_it_finds_the_top_of_a_hill_among_400_in_a_few_dozen(seed: int, batch: int) -> None:
    course = explore(Bayes(SQUARE, seed, SearchSettings()), hill, 40, batch=batch, noise=0.001)
    assert (13, 4) in [point_of(each) for each in course]


def test_it_starts_with_points_far_from_each_other() -> None:
    strategy = Bayes(SQUARE, 1, SearchSettings())
    start = np.array([point_of(strategy.ask(1)[0]) for _ in range(8)])
    apart = np.abs(start[:, None] - start).sum(axis=2) + 100 * np.eye(8)
    assert apart.min() >= 7


def test_the_schedule_of_the_paper_is_240_random_structures_before_results_count() -> None:
    settings = SearchSettings(schedule="paper")
    one = list(explore(Bayes(SQUARE, 7, settings), hill, 243))
    other = list(explore(Bayes(SQUARE, 7, settings), lambda each: -hill(each), 243))
    assert one[:240] == other[:240]
    assert one[240:] != other[240:]
    columns = np.array([point_of(each) for each in one[:40]]).mean(axis=0)
    assert all(5 < column < 14 for column in columns)
    assert one[:8] != list(explore(Bayes(SQUARE, 7, SearchSettings()), hill, 8))


def spread_of_a_batch(seed: int) -> float:
    """How far apart eight structures are that are proposed without waiting for results."""
    strategy = Bayes(SQUARE, seed, SearchSettings())
    asked = [strategy.ask(1)[0] for _ in range(8)]
    strategy.tell([trial(i, each, hill(each), 0.003) for i, each in enumerate(asked)])
    batch = np.array([point_of(strategy.ask(1)[0]) for _ in range(8)])
    return float(np.abs(batch[:, None] - batch).max(axis=2).mean())


def test_pending_structures_spread_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    spread = sum(map(spread_of_a_batch, range(5)))

    def ignore(
        model: Surrogate, places: Places, scores: FloatArray, noise: FloatArray, pending: list[int]
    ) -> FloatArray:
        return model.predict(np.array(pending))[0]

    monkeypatch.setattr(Surrogate, "believe", ignore)
    assert spread > 1.1 * sum(map(spread_of_a_batch, range(5)))


def test_what_is_expected_of_pending_structures_takes_doubt_away_and_changes_no_mean() -> None:
    places, scores, noise = np.array([0, 50, 100]), np.array([0.0, 0.1, 0.05]), np.full(3, 0.01)
    model = Surrogate(LINE.features())
    model.learn(places, scores, noise)
    mean, deviation = model.predict(np.array([24, 76]))
    believed = model.believe(places, scores, noise, [25])
    later_mean, later_deviation = model.predict(np.array([24, 76]))
    assert believed == pytest.approx(mean[:1], abs=0.005)
    assert later_mean == pytest.approx(mean, abs=0.005)
    assert later_deviation[0] < 0.97 * deviation[0]
    assert later_deviation[1] == pytest.approx(deviation[1], rel=0.05)


def test_a_lucky_score_of_little_weight_does_not_lead() -> None:
    scores = {x: (0.2 * np.exp(-(((x - 80) / 25) ** 2)), 0.01) for x in range(101)}
    lucky, sure = dict.fromkeys(range(20), (0.3, 0.4)), dict.fromkeys(range(20), (0.3, 0.01))
    assert all(x > 50 for x in ask_after(scores | lucky, 2))
    assert any(x < 30 for x in ask_after(scores | sure, 2))


def test_with_a_price_on_calls_the_best_bargain_is_found() -> None:
    settings = SearchSettings(weight=0.1)
    course = [point_of(each) for each in explore(Bayes(SQUARE, 1, settings), hill, 30, noise=0.001)]
    assert (0, 4) in course
    assert sum(a == 0 for a, _ in course[8:]) > 10


@pytest.mark.parametrize("batch", [1, 8])
def test_the_cheapest_within_the_margin_is_found(batch: int) -> None:
    settings = SearchSettings(objective="cheapest", margin=2)

    def score(each: Structure) -> float:
        return 0.1 * min(1.0, point_of(each)[0] / 8)

    course = explore(Bayes(SQUARE, 1, settings), score, 40, batch=batch, noise=0.002)
    assert 7 in [a for a, _ in map(point_of, course)]


def test_known_noise_is_told_from_what_structures_have_of_their_own() -> None:
    random = np.random.default_rng(1)
    features = np.linspace(0, 1, 60)[:, None]
    truth = np.sin(5 * features[:, 0]) * 0.1
    noise = np.where(np.arange(60) % 2 == 0, 0.001, 0.1)
    places = np.arange(60)
    thought = Surrogate(features).learn(places, truth + noise * random.normal(size=60), noise)
    assert np.abs(thought - truth)[::2].max() < 0.01
    assert np.abs(thought - truth)[1::2].max() < 0.05


def test_the_logarithm_of_the_improvement_is_right_and_keeps_an_order_far_below_the_best() -> None:
    mean, deviation = np.array([0.3, 0.0, -0.5, -3.0]), np.array([0.2, 0.1, 0.4, 0.5])
    z = mean / deviation
    expected = deviation * (z * norm.cdf(z) + norm.pdf(z))
    assert np.allclose(np.exp(log_expected_improvement(mean, deviation, 0.0)), expected, rtol=1e-6)
    far = log_expected_improvement(-np.logspace(0, 6, 50), np.full(50, 1e-2), 0.0)
    assert np.all(np.isfinite(far))
    assert np.all(np.diff(far) < 0)
