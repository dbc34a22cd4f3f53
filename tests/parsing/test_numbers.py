from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.numbers import (
    first_number,
    gsm8k_answer,
    gsm8k_official,
    last_number,
    same_number,
    to_number,
)


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("The bill comes to $1,045.00.", "1045.00"),
        ("It is 45.", "45"),
        ("so 5-3", "3"),
        ("from 5 to -3", "-3"),
        ("we lose -$5", "-5"),
        ("we lose $-5$", "-5"),
        ("minus: \u22127.5", "-7.5"),
        ("Rs.500 only", "500"),
        ("and then...5", "5"),
        ("about .5", "0.5"),
        ("1,2,3", "3"),
        ("1,234,5678", "5678"),
        ("3.5e3 metres", "3.5e3"),
        ("3 \\times 10^{5}", "3e5"),
        ("6 × 10^-2", "6e-2"),
        ("full width １２", "12"),
        ("H2O and x_5", None),
        ("none here", None),
        ("", None),
    ],
)
def test_the_last_number_of_a_reply(reply: str, number: str | None) -> None:
    assert last_number(reply) == number


def test_first_and_last_differ() -> None:
    assert first_number("from 3 to 4") == "3"
    assert last_number("from 3 to 4") == "4"


CURRENCIES = ["", "$", "\\$", "€", "£ "]
GROUPINGS = [",", "{,}", "\\!", ",\\!", "\\,", "\u2009", "'", "_"]


@given(
    st.integers(-(10**15), 10**15),
    st.sampled_from(GROUPINGS),
    st.sampled_from(CURRENCIES),
    st.sampled_from(["", ".00", ".50"]),
    st.sampled_from(["", ".", "%", "\\%", "**", ". "]),
)
def test_currency_separators_and_full_stops_never_change_a_number(
    value: int, grouping: str, currency: str, cents: str, end: str
) -> None:
    digits = f"{abs(value):,}".replace(",", grouping)
    written = f"{'-' if value < 0 else ''}{currency}{digits}{cents}{end}"
    expected = Decimal(f"{value}{cents}")
    assert to_number(written) == expected
    found = last_number(f"The total comes to {written}")
    assert found is not None
    assert to_number(found) == expected


@pytest.mark.parametrize("pair", ["(12,500)", "[12,500]", "$(12,500)$", "\\left(12,500\\right)", "\\{12,500\\}"])
def test_a_pair_is_not_one_number(pair: str) -> None:
    assert to_number(pair) is None
    assert not same_number(pair, "12500")
    assert last_number(pair) == "500"
    assert first_number(pair) == "12"


@pytest.mark.parametrize("written", ["12,500", "12{,}500", "12,\\!500", "12\\!500", "$12,500$", "($12,500)", "12500."])
def test_every_way_to_write_thousands_is_the_same_number(written: str) -> None:
    assert same_number(written, "12500")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("7.0", "7"),
        ("\\frac34", "0.75"),
        ("-\\dfrac{3}{4}", "-0.75"),
        ("$-\\frac{3}{4}$", "-0.75"),
        ("3/4", "0.75"),
        ("(45)", "45"),
        ("**45**", "45"),
        ("\\(45\\)", "45"),
        ("- 5", "-5"),
        ("50%", "50"),
        ("90^\\circ", "90"),
        ("6.5\\text{ cents}", "6.5"),
        ("1.5e3", "1500"),
    ],
)
def test_one_number_and_its_marks(written: str, value: str) -> None:
    assert to_number(written) == Decimal(value)


@pytest.mark.parametrize(
    "written", ["", "four", "4 or 5", "4 apples", "3\\text{ million}", "\\frac{1}{0}", "1.2.3", "0,500", "3,14", "١"]
)
def test_what_is_not_one_number_is_none(written: str) -> None:
    assert to_number(written) is None


def test_equality_is_of_value_and_tolerance_is_inclusive() -> None:
    assert same_number("7.0", "7")
    assert not same_number("7.01", "7")
    assert same_number("7.01", 7, tolerance=0.01)
    assert not same_number("7.011", 7, tolerance=0.01)
    assert same_number("1/3", "2/6")
    assert same_number(0.1, "0.1")
    assert not same_number(float("nan"), float("nan"))
    assert not same_number("x", "x")


@pytest.mark.parametrize("written", ["1e999999999", "-1e-999999999", "9" * 100_000, "1e" + "9" * 5000, "1e99999"])
def test_monstrous_numbers_are_refused_at_once(written: str) -> None:
    assert to_number(written) is None
    assert not same_number(written, "1", tolerance=1)


def test_large_numbers_are_compared_exactly() -> None:
    assert not same_number("1" * 60, "1" * 59 + "2")
    assert same_number("1" * 60, "1" * 59 + "2", tolerance=1)


@given(st.text(max_size=40), st.text(max_size=40))
def test_equality_is_symmetric(a: str, b: str) -> None:
    assert same_number(a, b) == same_number(b, a)
    assert same_number(a, b, tolerance=2) == same_number(b, a, tolerance=2)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9))
def test_what_last_number_finds_to_number_reads(value: Decimal) -> None:
    found = last_number(f"It is {value}.")
    assert found is not None
    assert to_number(found) == value


def test_official_grader_of_gsm8k() -> None:
    assert gsm8k_official("so\n#### 45.") == "45."
    assert gsm8k_official("#### 1,045") == "1045"
    assert gsm8k_official("#### -3 then #### 4") == "-3"
    assert gsm8k_official("#### $45") is None
    assert gsm8k_official("45") is None


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("3 and 4\n#### 45.", "45"),
        ("#### $45", "45"),
        ("#### 45.5", "45.5"),
        ("**Answer:** $1,045.00.", "1045.00"),
        ("The answer is 15 * 3 = 45. I used 2 steps.", "45"),
        ("Answer: x = 12 (that is 3 * 4 = 12)", "12"),
        ("The answer is below.\n\\boxed{7}", "7"),
        ("<think>#### 5</think>\\boxed{7} in 3 days", "7"),
        ("it is 7, then 8", "8"),
        ("<think>it is 7", None),
    ],
)
def test_lenient_answers_to_word_problems(reply: str, number: str | None) -> None:
    assert gsm8k_answer(reply) == number


@pytest.mark.shared
def test_every_gsm8k_solution_gives_its_own_answer(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "gsm8k/gsm8k.jsonl").read_text("utf-8").splitlines()]
    wrong = [row["id"] for row in rows if not same_number(gsm8k_answer(row["solution"]) or "", str(row["answer"]))]
    assert len(rows) == 500
    assert wrong == []
    assert all(gsm8k_official(row["solution"]) is not None for row in rows)
