"""Intervals of one score: Wilson for single draws, the sign-flip inversion for means."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import question_means
from treadle.evaluation.statistics.intervals import mean_interval, score_interval, wilson

fractions = st.integers(0, 6).map(lambda k: k / 6)


@pytest.mark.parametrize(("successes", "n"), [(0, 5), (3, 5), (5, 5), (26, 40), (399, 400)])
def test_wilson_is_the_known_interval(successes: int, n: int) -> None:
    known = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson(successes, n) == pytest.approx((known.low, known.high), abs=1e-12)


def test_nothing_scored_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert mean_interval([]) is None
    assert score_interval([np.nan, np.nan]) is None


def test_impossible_counts_and_scores_are_refused() -> None:
    with pytest.raises(UserError, match="between 0 and the number of trials"):
        wilson(6, 5)
    with pytest.raises(UserError, match="fractions between 0 and 1"):
        mean_interval([0.5, 80.0])
    with pytest.raises(UserError, match="one label per question"):
        score_interval([1.0, 0.0], groups=["a"])


def test_one_draw_per_question_gets_wilson_and_infra_failures_leave() -> None:
    assert score_interval([1, 0, 1, np.nan, 1]) == wilson(3, 4)
    assert score_interval([1, 0, 1, 1], groups=["a", "b", "c", None]) == wilson(3, 4)


def test_a_group_counts_once_however_many_questions_it_has() -> None:
    values = [1.0] * 50 + [0.0] * 50
    questions, twenty = score_interval(values), score_interval(values, [str(k // 5) for k in range(100)])
    assert questions is not None
    assert twenty is not None
    assert questions[1] - questions[0] < 0.2
    assert 0.35 < twenty[1] - twenty[0] < 0.55


def test_the_interval_of_unequal_groups_belongs_to_the_mean_over_questions() -> None:
    values = [1.0] * 90 + [0.0] * 10
    groups = ["big"] * 90 + [str(k) for k in range(10)]
    interval = score_interval(values, groups)
    assert interval is not None
    assert interval[0] <= 0.9 <= interval[1]


def brute_force_keeps(values: list[float], theta: float) -> bool:
    """Whether the sign-flip test at 5 %, by its definition, keeps a mean."""
    centred = np.array(values) - theta
    signs = np.array(list(itertools.product((1, -1), repeat=len(values))))
    flipped = signs @ centred
    reached = np.abs(flipped) >= abs(float(centred.sum())) - 1e-12
    return float(reached.mean()) >= 0.05


@settings(deadline=None, max_examples=40)
@given(st.lists(fractions, min_size=6, max_size=9))
def test_the_interval_holds_every_mean_that_the_test_keeps(values: list[float]) -> None:
    interval = mean_interval(values)
    assert interval is not None
    assert interval[0] <= np.mean(values) + 1e-12
    assert interval[1] >= np.mean(values) - 1e-12
    for theta in np.linspace(0.005, 0.995, 34):
        if brute_force_keeps(values, float(theta)):
            assert interval[0] - 1e-9 <= theta <= interval[1] + 1e-9


def test_symmetric_values_get_the_bare_inversion() -> None:
    values = [*np.linspace(0.2, 0.8, 12)]
    interval = mean_interval(values)
    assert interval is not None
    kept = [theta for theta in np.linspace(0, 1, 201) if brute_force_keeps(values, float(theta))]
    assert interval == pytest.approx((kept[0], kept[-1]), abs=0.03)


def test_five_questions_exclude_nothing() -> None:
    assert mean_interval([0.5, 0.4, 0.6, 0.5, 0.7]) == (0.0, 1.0)


def test_a_perfect_score_is_not_certainty() -> None:
    interval = mean_interval([1.0] * 40)
    assert interval is not None
    assert 0.85 < interval[0] < 0.96
    assert interval[1] == 1.0


def test_order_does_not_matter_and_nothing_varies() -> None:
    values = np.random.default_rng(3).integers(0, 4, 50) / 3
    assert mean_interval(values) == mean_interval(values[::-1]) == mean_interval(list(values))


@pytest.mark.parametrize(("n", "mean", "concentration"), [(20, 0.7, 2.0), (40, 0.97, 1.0), (60, 0.5, 0.2)])
def test_coverage_of_three_repeats(n: int, mean: float, concentration: float) -> None:
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(300):
        skill = rng.beta(mean * concentration, (1 - mean) * concentration, n)
        interval = mean_interval(rng.binomial(3, skill) / 3)
        assert interval is not None
        held += interval[0] - 1e-9 <= mean <= interval[1] + 1e-9
    assert held / 300 >= 0.93


def test_question_means_leave_infra_failures_out() -> None:
    means = question_means([[1.0, np.nan, 0.0], [np.nan] * 3, [1.0, 1.0, 0.0]])
    assert means[0] == 0.5
    assert np.isnan(means[1])
    assert means[2] == pytest.approx(2 / 3)
    assert len(question_means([])) == 0
