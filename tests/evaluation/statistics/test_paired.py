"""Paired comparisons: the tests against references, the interval against the test, the five verdicts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from treadle.errors import UserError
from treadle.evaluation.statistics.mcnemar import mcnemar_bounds
from treadle.evaluation.statistics.paired import Comparison, compare_paired, verdict

thirds = st.integers(0, 3).map(lambda k: k / 3)
bits = st.sampled_from([0.0, 1.0])


def both(value: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[float, float]]]:
    return st.lists(st.tuples(value, value), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("ci", "expected"),
    [
        ((0.1, 9.0), "better"),
        ((0.1, 1.0), "better"),
        ((-9.0, -0.1), "worse"),
        ((-1.0, -0.1), "worse"),
        ((-1.9, 1.9), "no difference"),
        ((0.0, 1.0), "no difference"),
        ((-1.9, 2.0), "not worse"),
        ((-1.9, 9.0), "not worse"),
        ((-2.0, 1.0), "inconclusive"),
        ((-9.0, 9.0), "inconclusive"),
    ],
)
def test_the_first_verdict_that_holds(ci: tuple[float, float], expected: str) -> None:
    assert verdict(ci) == expected


def test_the_margin_is_the_users() -> None:
    assert verdict((-4.0, 4.0), margin=5.0) == "no difference"
    assert verdict((-4.0, 9.0), margin=5.0) == "not worse"


def test_one_draw_is_mcnemars_exact_test() -> None:
    first = np.array([1.0] * 9 + [0.0] * 2 + [1.0] * 20 + [0.0] * 9)
    second = np.array([0.0] * 9 + [1.0] * 2 + [1.0] * 20 + [0.0] * 9)
    found = compare_paired(first, second)
    assert found.n == 40
    assert found.difference == pytest.approx(100 * 7 / 40)
    assert found.p_value == pytest.approx(binomtest(2, 11).pvalue)


@pytest.mark.parametrize("m", [5, 9, 12])
def test_few_questions_are_tested_by_every_flip(m: int) -> None:
    rng = np.random.default_rng(m)
    first, second = rng.integers(0, 4, m) / 3, rng.integers(0, 4, m) / 3
    sums = np.array(list(itertools.product((1, -1), repeat=m))) @ (first - second)
    reached = np.abs(sums) >= abs(float((first - second).sum())) - 1e-12
    assert compare_paired(first, second).p_value == pytest.approx(float(reached.mean()))


def test_many_questions_agree_with_the_exact_distribution() -> None:
    rng = np.random.default_rng(8)
    signs = np.where(np.arange(300) < 170, 1, -1)
    second = np.where(signs > 0, 0.0, 0.5)
    first = np.where(signs > 0, 0.5, 0.0)
    order = rng.permutation(300)
    found = compare_paired(first[order], second[order])
    assert found.p_value == pytest.approx(binomtest(130, 300).pvalue, abs=0.005)


@settings(deadline=None, max_examples=150)
@given(both(thirds) | both(bits), st.integers(1, 4))
def test_p_and_interval_never_disagree(rows: list[tuple[float, float]], opened: int) -> None:
    first, second = np.array(rows).T
    found = compare_paired(first, second, multiplier=opened)
    low, high = found.ci95
    assert -100 <= low <= found.difference + 1e-9
    assert found.difference - 1e-9 <= high <= 100
    assert (found.p_value < 0.05) == (low > 0 or high < 0)
    assert found.verdict == verdict(found.ci95)


@settings(deadline=None, max_examples=60)
@given(both(thirds) | both(bits), st.randoms(use_true_random=False))
def test_order_is_nothing_and_sides_are_mirror_images(rows: list[tuple[float, float]], random: object) -> None:
    first, second = np.array(rows).T
    there, back = compare_paired(first, second), compare_paired(second, first)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p_value == back.p_value
    if first.sum() != second.sum():
        assert there.ci95 == pytest.approx((-back.ci95[1], -back.ci95[0]))
    shuffled = np.random.default_rng(len(rows)).permutation(len(rows))
    again = compare_paired(first[shuffled], second[shuffled])
    assert again.p_value == there.p_value
    assert again.ci95 == pytest.approx(there.ci95)


def test_sampled_flips_are_mirror_images_too() -> None:
    rng = np.random.default_rng(10)
    first, second = rng.random(61), rng.random(61)
    there, back = compare_paired(first, second), compare_paired(second, first)
    assert there.p_value == back.p_value
    assert there.ci95 == pytest.approx((-back.ci95[1], -back.ci95[0]))


@pytest.mark.parametrize("repeats", [1, 3])
def test_another_opening_multiplies_p_and_widens(repeats: int) -> None:
    rng = np.random.default_rng(1)
    first, second = rng.binomial(repeats, 0.75, 200) / repeats, rng.binomial(repeats, 0.6, 200) / repeats
    once, twice = compare_paired(first, second), compare_paired(first, second, multiplier=2)
    assert twice.p_value == pytest.approx(2 * once.p_value)
    assert twice.ci95[0] < once.ci95[0] < once.ci95[1] < twice.ci95[1]


def test_pairs_with_an_infra_failure_leave() -> None:
    nan = float("nan")
    found = compare_paired([1, nan, 0, 1, 1], [0, 1, nan, 1, 1])
    assert found == compare_paired([1, 1, 1], [0, 1, 1])
    assert found.n == 3


def test_groups_are_averaged_first() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 2, 20).astype(float), rng.integers(0, 2, 20).astype(float)
    groups = [str(k % 10) for k in range(20)]
    grouped = compare_paired(first, second, groups)
    by_hand = compare_paired((first[:10] + first[10:]) / 2, (second[:10] + second[10:]) / 2)
    assert grouped.n == 20
    assert (grouped.ci95, grouped.p_value) == (by_hand.ci95, by_hand.p_value)


def test_copied_questions_are_no_evidence() -> None:
    first, second = [1.0] * 60, [0.0] * 60
    assert compare_paired(first, second).verdict == "better"
    assert compare_paired(first, second, ["a"] * 30 + ["b"] * 30).verdict == "inconclusive"


def test_nothing_to_compare() -> None:
    nothing = Comparison(0, 0.0, (-100.0, 100.0), 1.0, "inconclusive")
    assert compare_paired([], []) == nothing
    assert compare_paired([float("nan")], [1.0]) == nothing


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_agreement_is_a_claim_only_with_enough_questions(value: float) -> None:
    few, many = compare_paired([value] * 10, [value] * 10), compare_paired([value] * 400, [value] * 400)
    assert (few.difference, few.p_value, few.verdict) == (0.0, 1.0, "inconclusive")
    assert (many.difference, many.p_value, many.verdict) == (0.0, 1.0, "no difference")


def test_mistakes_are_named() -> None:
    with pytest.raises(UserError, match="same questions on both sides, got 2, 1"):
        compare_paired([1, 0], [1])
    with pytest.raises(UserError, match="2 questions but 1 group labels"):
        compare_paired([1, 0], [1, 0], ["a"])
    with pytest.raises(UserError, match="not a count of openings"):
        compare_paired([1, 0], [1, 0], multiplier=0)


@pytest.mark.parametrize("n", [20, 40, 200])
@pytest.mark.parametrize(
    ("wins", "losses"), [(0.02, 0.0), (0.2, 0.0), (0.5, 0.0), (0.05, 0.02), (0.25, 0.15), (0.9, 0.05)]
)
def test_coverage_of_one_draw(n: int, wins: float, losses: float) -> None:
    rng = np.random.default_rng(n)
    tables = rng.multinomial(n, [wins, losses, 1 - wins - losses], 3000)
    distinct, counts = np.unique(tables, axis=0, return_counts=True)
    bounds = [mcnemar_bounds(int(b), int(c), n, 0.05) for b, c, _ in distinct]
    held = [low - 1e-12 <= wins - losses <= high + 1e-12 for low, high in bounds]
    assert np.average(held, weights=counts) >= 0.94


@pytest.mark.parametrize(("n", "base", "effect"), [(20, 0.7, 0.1), (40, 0.9, 0.05), (40, 0.97, 0.02), (60, 0.7, 0.0)])
def test_coverage_of_three_draws(n: int, base: float, effect: float) -> None:
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(250):
        skill = rng.beta(base * 2, (1 - base) * 2, n)
        first, second = rng.binomial(3, skill) / 3, rng.binomial(3, skill * (1 - effect / base)) / 3
        low, high = compare_paired(first, second).ci95
        held += low - 1e-9 <= 100 * effect <= high + 1e-9
    assert held / 250 >= 0.93


@pytest.mark.parametrize("repeats", [1, 3])
def test_equal_workflows_are_rarely_told_apart(repeats: int) -> None:
    rng = np.random.default_rng(repeats)
    apart = 0
    for _ in range(300):
        skill = rng.beta(1.4, 0.6, 50)
        apart += (
            compare_paired(rng.binomial(repeats, skill) / repeats, rng.binomial(repeats, skill) / repeats).p_value
            < 0.05
        )
    assert apart / 300 <= 0.08
