"""A share of two means on the same questions: what it is, and that its interval holds what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray
from treadle.evaluation.statistics.ratio import ratio_of_means

AMOUNTS = st.lists(st.tuples(st.integers(0, 100_000), st.integers(1, 100_000)), min_size=2, max_size=40)
TRUE = 0.22


def drawn(rng: np.random.Generator, kind: str, count: int) -> tuple[FloatArray, FloatArray]:
    """Tokens of two workflows per question, the one on average 0.22 of the other."""
    shared, own, other = rng.standard_normal((3, count))
    if kind == "correlated":
        return TRUE * np.exp(0.5 * shared + 0.4 * own), np.exp(0.5 * shared + 0.4 * other)
    if kind == "long tails":
        return TRUE * np.exp(own), np.exp(other)
    return 2 * TRUE * np.exp(0.6 * own) * (rng.random(count) < 0.5), np.exp(0.6 * other)


@pytest.mark.parametrize("kind", ["correlated", "long tails", "many zeros"])
@pytest.mark.parametrize("count", [8, 50])
def test_the_interval_holds_the_true_share_as_often_as_it_says(kind: str, count: int) -> None:
    rng = np.random.default_rng(11)
    found = [ratio_of_means(*drawn(rng, kind, count)).ci95 for _ in range(1500)]
    held = [ci95 is not None and ci95[0] <= TRUE <= ci95[1] for ci95 in found]
    assert 0.93 <= float(np.mean(held)) <= 0.985


def test_questions_of_one_group_say_less_than_as_many_alone() -> None:
    rng = np.random.default_rng(3)
    first, second = (np.repeat(values, 5) for values in drawn(rng, "correlated", 20))
    alone = ratio_of_means(first, second)
    grouped = ratio_of_means(first, second, [place // 5 for place in range(100)])
    assert alone.value == pytest.approx(grouped.value)
    assert alone.ci95 is not None
    assert grouped.ci95 is not None
    assert grouped.ci95[1] - grouped.ci95[0] > 1.8 * (alone.ci95[1] - alone.ci95[0])


@given(AMOUNTS, st.integers(2, 9))
def test_the_share_is_that_of_the_sums_whatever_the_unit(pairs: list[tuple[int, int]], unit: int) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found, scaled = ratio_of_means(first, second), ratio_of_means([unit * a for a in first], [unit * b for b in second])
    assert found.value == pytest.approx(sum(first) / sum(second))
    assert scaled.value == pytest.approx(found.value)
    assert found.n == len(pairs)
    if found.ci95 is not None and found.value is not None:
        assert scaled.ci95 == pytest.approx(found.ci95)
        assert 0 <= found.ci95[0] <= found.value * (1 + 1e-9)
        assert found.ci95[1] >= found.value * (1 - 1e-9)


@given(st.lists(st.integers(1, 100_000), min_size=2, max_size=30).filter(lambda values: max(values) < sum(values)))
def test_a_workflow_takes_exactly_all_of_its_own(values: list[int]) -> None:
    found = ratio_of_means(values, values)
    assert found.value == 1.0
    assert found.ci95 == pytest.approx((1.0, 1.0))


def test_what_cannot_be_told_is_not_told() -> None:
    assert ratio_of_means([], []).value is None
    assert ratio_of_means([3.0, 4.0], [0.0, 0.0]).value is None
    one = ratio_of_means([3.0], [4.0])
    assert (one.value, one.ci95) == (0.75, None)
    all_of_it_in_one = ratio_of_means([3.0, 1.0], [4.0, 0.0])
    assert (all_of_it_in_one.value, all_of_it_in_one.ci95) == (1.0, None)
    nothing = ratio_of_means([0.0, 0.0], [4.0, 5.0])
    assert (nothing.value, nothing.ci95) == (0.0, (0.0, 0.0))


@pytest.mark.parametrize("bad", [[-1.0, 2.0], [float("nan"), 2.0], [1.0]])
def test_what_is_no_amount_is_refused(bad: list[float]) -> None:
    with pytest.raises(UserError):
        ratio_of_means(bad, [1.0, 2.0])
