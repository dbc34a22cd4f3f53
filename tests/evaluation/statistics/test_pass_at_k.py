"""Exact proportions and coverage."""

from __future__ import annotations

import itertools

import pytest
from scipy.stats import binomtest

from treadle.errors import UserError
from treadle.evaluation.statistics.coverage import clopper_pearson, pass_at_k


@pytest.mark.parametrize(("successes", "n"), [(0, 12), (1, 12), (12, 12), (25, 600)])
def test_clopper_pearson_is_the_known_interval(successes: int, n: int) -> None:
    known = binomtest(successes, n).proportion_ci(0.9, method="exact")
    assert clopper_pearson(successes, n, 0.9) == pytest.approx((known.low, known.high))


def test_no_trial_no_interval() -> None:
    assert clopper_pearson(0, 0) is None
    with pytest.raises(UserError, match="between 0 and the number of trials"):
        clopper_pearson(-1, 4)


@pytest.mark.parametrize(("n", "correct"), [(5, 0), (5, 2), (6, 5), (6, 6)])
def test_pass_at_k_is_the_share_of_lucky_subsets(n: int, correct: int) -> None:
    for k in range(1, n + 1):
        subsets = list(itertools.combinations([1] * correct + [0] * (n - correct), k))
        assert pass_at_k(n, correct, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


def test_pass_at_k_of_many_draws_stays_a_share() -> None:
    assert pass_at_k(10_000, 3, 100) == pytest.approx(1 - 0.99**3, abs=1e-3)
    assert pass_at_k(10_000, 1, 10_000) == 1.0


@pytest.mark.parametrize(("n", "correct", "k"), [(3, 1, 4), (3, 1, 0), (3, 4, 1), (0, 0, 1)])
def test_more_than_was_drawn_cannot_be_told(n: int, correct: int, k: int) -> None:
    with pytest.raises(UserError, match="draw"):
        pass_at_k(n, correct, k)
