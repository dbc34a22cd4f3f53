"""Several rows against one baseline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import UserError
from treadle.evaluation.statistics.holm import compare_rows, holm, simultaneous_level
from treadle.evaluation.statistics.paired import compare_paired


def test_the_textbook_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_between_no_correction_and_bonferroni_in_the_same_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for p, corrected in zip(p_values, adjusted, strict=True):
        assert p <= corrected <= min(1.0, len(p_values) * p)
    ranked = [adjusted[k] for k in sorted(range(len(p_values)), key=p_values.__getitem__)]
    assert ranked == sorted(ranked)


def test_what_is_no_p_value_is_refused() -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        holm([0.5, 1.5])


def test_the_level_of_simultaneous_intervals() -> None:
    assert simultaneous_level(5) == pytest.approx(0.99)
    assert simultaneous_level(0) == pytest.approx(0.95)


def test_one_row_is_an_ordinary_comparison() -> None:
    rng = np.random.default_rng(4)
    row, baseline = rng.integers(0, 2, 80).astype(float), rng.integers(0, 2, 80).astype(float)
    assert compare_rows({"a": row}, baseline) == {"a": compare_paired(row, baseline)}


def test_where_holm_rejects_and_bonferroni_would_not_the_interval_is_open_at_zero() -> None:
    baseline = np.zeros(60)

    def with_wins(wins: int) -> list[float]:
        return [1.0] * wins + [0.0] * (60 - wins)

    table = compare_rows({"strong": with_wins(30), "middling": with_wins(6), "weak": with_wins(2)}, baseline)
    alone = compare_paired(with_wins(6), baseline)
    assert alone.p_value == pytest.approx(0.03125)
    assert [row.verdict for row in table.values()] == ["better", "not worse", "inconclusive"]

    table = compare_rows({"strong": with_wins(30), "middling": with_wins(6)}, baseline)
    middling = table["middling"]
    assert (middling.p_value, middling.verdict) == (pytest.approx(0.03125), "better")
    assert 0 < middling.ci95[0] < 1e-3
    assert middling.ci95[1] > alone.ci95[1]


def test_equal_rows_are_rarely_all_cleared_wrongly() -> None:
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(150):
        baseline = rng.integers(0, 2, 60).astype(float)
        rows = {str(k): rng.integers(0, 2, 60).astype(float) for k in range(6)}
        wrong += any(row.p_value < 0.05 for row in compare_rows(rows, baseline).values())
    assert wrong / 150 <= 0.08
