"""Numbers that go on in some way (fractions, powers, ranges, lists) are read whole, or not at all."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.numbers import gsm8k_answer, last_number, same_number, to_number

MARKED = ["Answer: {}", "The answer is {}.", "**Answer:** {}", "#### {}", "\\boxed{{{}}}"]


@pytest.mark.parametrize("form", MARKED)
@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1/2 cup", "0.5"),
        ("x = 3/4", "0.75"),
        ("\\frac{3}{4}", "0.75"),
        ("\\frac34", "0.75"),
        ("-\\dfrac{3}{4}", "-0.75"),
        ("2 1/2", "2.5"),
        ("2 1/2 cups", "2.5"),
        ("-2 1/2", "-2.5"),
        ("2\\frac{1}{2}", "2.5"),
        ("2½ cups", "2.5"),
        ("¾", "0.75"),
        ("5 million", "5000000"),
        ("$1.5 billion", "1500000000"),
        ("2 hundred thousand", "200000"),
        ("5k", "5000"),
        ("$5M", "5000000"),
        ("1 000 000", "1000000"),
        ("12 500 people", "12500"),
        ("1\u2009000\u2009000", "1000000"),
        ("50%", "50"),
        ("x = -5", "-5"),
        ("\\(-5\\)", "-5"),
        ("45 km", "45"),
        ("45 m^2", "45"),
        ("90^\\circ", "90"),
        ("$18 per day, that is 18", "18"),
        ("15 * 3 = 45", "45"),
        ("15 * 3 = 45 apples in 2 bags", "45"),
        ("x = 4 and y = 5, so x + y = 9", "9"),
        ("45 (that is 9 * 5)", "45"),
        ("45 because 9 * 5 is that", "45"),
        ("3 \\times 10^{5}", "300000"),
    ],
)
def test_values_that_go_on_are_read_whole(form: str, written: str, value: str) -> None:
    found = gsm8k_answer(form.format(written))
    assert found is not None
    assert same_number(found, value)


@pytest.mark.parametrize("form", MARKED)
@pytest.mark.parametrize(
    "written",
    [
        "2^10",
        "2^{10}",
        "2**10",
        "10²",
        "2\\sqrt{3}",
        "\\sqrt{2}",
        "2\\pi",
        "\\frac{x}{2}",
        "4, 5, 6",
        "1,2,3",
        "4 or 5",
        "x = 4 or x = 5",
        "x = 4 or 5",
        "x = 4, y = 5",
        "4 and 5",
        "10-20",
        "10–20",
        "10 to 20",
        "from 10 to 20",
        "3:30",
        "3:4",
        "1/2/2024",
        "(4, 5)",
        "3,14",
        "5M",
        "±5",
        "it is not 5",
    ],
)
def test_what_is_no_single_number_is_no_answer(form: str, written: str) -> None:
    assert gsm8k_answer(f"There were 3.\n{form.format(written)}") is None


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("Answer: not 5", None),
        ("- 5", "-5"),
        ("Answer: - 5", "-5"),
        ("There are 3 cats. The answer is not 5", None),
        ("It is 6, not 5.", "6"),
        ("4, 5, 6", None),
        ("4 or 5", None),
        ("It's either 4 or 5.", None),
        ("It takes 10-20 minutes", None),
        ("so in the end 2^10", None),
        ("We start at 3:30", None),
        ("She needs 1/2 cup", "1/2"),
        ("In all: 5 million", "5000000"),
        ("She runs 1 000 000 m", "1000000"),
        ("I have 3. Answer: five", None),
        ("The answer is below:\n\n7 apples", "7"),
        ("Answer: 45\n#### Explanation of step 2\nsimple", "45"),
        ("it is 7, then 8", "8"),
    ],
)
def test_unmarked_numbers_follow_the_same_rules(reply: str, number: str | None) -> None:
    assert gsm8k_answer(reply) == number


@given(
    st.integers(0, 999), st.integers(1, 99), st.integers(2, 100), st.sampled_from(["{} {}/{}", "{}\\frac{{{}}}{{{}}}"])
)
def test_mixed_numbers_are_sums(whole: int, above: int, below: int, form: str) -> None:
    if above >= below:
        return
    written = form.format(whole, above, below)
    found = gsm8k_answer(f"Answer: {written} cups")
    assert found is not None
    assert same_number(found, f"{whole * below + above}/{below}")
    assert same_number(written, found)


@given(
    st.integers(0, 99), st.integers(100, 999), st.sampled_from([", ", " or ", "-", " to ", ":", "/1/", "^", " and "])
)
def test_two_numbers_never_credit_one_of_them(first: int, second: int, between: str) -> None:
    assert gsm8k_answer(f"Answer: {first}{between}{second}") is None


@pytest.mark.parametrize(("written", "value"), [("1 000 000", "1000000"), ("2 1/2", "2.5"), ("-2\\frac12", "-2.5")])
def test_one_number_in_more_spellings(written: str, value: str) -> None:
    assert to_number(written) == Decimal(value)


def test_plain_spaces_join_groups_of_three_only() -> None:
    assert to_number("1 00") is None
    assert to_number("1000 000") is None
    assert to_number("1 000 00") is None
    assert last_number("1 000 00") == "00"
    assert to_number("0 500") is None
