"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.cli import wording


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        (None, "unpriced"),
        (0.0, "$0"),
        (1234.5, "$1,234.50"),
        (1.0, "$1.00"),
        (0.5, "$0.50"),
        (0.0123, "$0.012"),
        (0.00012, "$0.00012"),
        (0.000000126, "$0.00000013"),
        (1e-12, "<$0.0000000001"),
    ],
)
def test_money_keeps_the_digits_that_count(usd: float | None, shown: str) -> None:
    assert wording.money(usd) == shown


@given(st.floats(1e-9, 1e6))
def test_money_is_never_shown_as_nothing_and_stays_within_five_per_cent(usd: float) -> None:
    shown = float(wording.money(usd).lstrip("$").replace(",", ""))
    assert shown > 0
    assert math.isclose(shown, usd, rel_tol=0.05)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0, "0 s"),
        (0.0004, "0.4 ms"),
        (0.25, "250 ms"),
        (1.26, "1.3 s"),
        (59.96, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3725, "1 h 2 min"),
    ],
)
def test_durations(value: float | None, shown: str) -> None:
    assert wording.seconds(value) == shown


def test_scores_come_in_per_cent_with_their_interval() -> None:
    assert wording.score(0.725, [0.66, 0.782]) == "72.5 [66.0–78.2]"
    assert wording.score(0.5, None) == "50.0"
    assert wording.score(None, None) == "–"


def test_differences_come_in_points_with_their_sign() -> None:
    assert f"{wording.points(3.24)} {wording.points_interval([-1.0, 7.4])}" == "+3.2 [-1.0 to +7.4]"


@pytest.mark.parametrize(
    ("value", "shown"), [(0.00001, "p < 0.0001"), (0.0312, "p = 0.031"), (0.5, "p = 0.50"), (None, "")]
)
def test_p_values(value: float | None, shown: str) -> None:
    assert wording.p_value(value) == shown


def test_counts_stay_short() -> None:
    assert [wording.count(n) for n in (5, 2.5, 12345, 35_568, 12_400_000)] == ["5", "2.5", "12,345", "35,568", "12.4 M"]
    assert wording.plural(1, "call") == "1 call"
    assert wording.plural(1200, "call") == "1,200 calls"
