"""What of mathematical equality needs no algebra."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.tasks.scorers.latex import compare, plain_latex


def never(a: str, b: str) -> bool:
    raise AssertionError(f"algebra was asked for {a!r} and {b!r}")


def no_algebra(a: str, b: str) -> bool:
    return False


def same(a: str, b: str) -> bool:
    first, second = plain_latex(a), plain_latex(b)
    found = compare(first, second, never)
    assert compare(second, first, never) == found
    return found


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("12,500", "12500"),
        ("12{,}500", "12500"),
        (r"12,\!500", "12500"),
        (r"11,\! 111,\! 111,\! 100", "11111111100"),
        (r"\$32,\!348", "32348"),
        ("7.0", "7"),
        ("0.75", r"\frac34"),
        (r"\dfrac{3}{4}", r"\frac34"),
        ("3/4", r"\tfrac{3}{4}"),
        (r"-\frac{1}{3}", "-1/3"),
        ("0.333333", r"\frac13"),
        ("1.5e3", "1500"),
        (r"\text{(C)}", "C"),
        ("(C)", "c"),
        (r"6.5\text{ cents}", "6.5"),
        ("12 cm", "12"),
        (r"12\,\text{cm}^2", "12"),
        ("3 dollars", "3"),
        (r"90^\circ", "90"),
        (r"90^{\circ}", r"90\text{ degrees}"),
        (r"\frac{270}7\text{ degrees}", r"\frac{270}{7}"),
        (r"x\in[-1,4]", "[-1,4]"),
        (r"x \in [-1, 4]", r"\left[-1,4\right]"),
        (r"\text{West}", "west"),
        (r"\text{no solution}", "no solution"),
        ("x=5", "5"),
        (r"\{1,2\}", r"\{2, 1\}"),
        ("2,3", "3, 2"),
        ("2 and 3", r"\{3,2\}"),
        ("3, 5, 7", "7,5,3"),
        ("100, 200", "200, 100"),
        (r"\left( 3, \frac{6}{4} \right)", "(3,1.5)"),
        ("(1,2)", "1, 2"),
        ("52_8", "52"),
        ("52_{8}", "52_8"),
        ("$5$.", "5"),
        ("", ""),
        ("\u22125", "-5"),
    ],
)
def test_these_are_equal(a: str, b: str) -> None:
    assert same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("(12,500)", "12500"),
        ("7.01", "7"),
        (r"\frac{3}{8}", r"\frac{3}{5}"),
        ("[-1,4]", "(-1,4)"),
        ("(3,4]", "(3,4)"),
        ("(1,2)", "2,1"),
        ("(1,2)", "(2,1)"),
        (r"\{1,2\}", "(1,2)"),
        ("1,2", "1,2,3"),
        ("1,1,2", "1,2,2"),
        (".0000672", ".0000671"),
        ("0.333333", "0.333334"),
        ("0.3333", r"\frac13"),
        ("1000000", "1000001"),
        ("52_8", "52_9"),
        (r"\text{even}", r"\text{odd}"),
        (r"\text{even}", "4"),
        ("100,200", "200, 100"),
        ("x=5", "6"),
        ("", "5"),
        ("7" * 3000, "8" * 3000),
    ],
)
def test_these_are_not(a: str, b: str) -> None:
    assert not same(a, b)


@pytest.mark.parametrize(("a", "b"), [("x+1", "1+x"), (r"1 \pm \sqrt{19}", r"1+\sqrt{19}, 1-\sqrt{19}")])
def test_algebra_is_asked_where_it_is_needed(a: str, b: str) -> None:
    asked: list[tuple[str, str]] = []

    def algebra(x: str, y: str) -> bool:
        asked.append((x, y))
        return True

    assert compare(plain_latex(a), plain_latex(b), algebra)
    assert asked == [(plain_latex(a), plain_latex(b))]


def test_capital_and_small_commands_differ() -> None:
    assert not compare(r"\Delta", r"\delta", no_algebra)


@given(
    st.text(max_size=40) | st.from_regex(r"[\\(\[{][0-9a-z,.\\{} +=%$]{0,15}[)\]}]?", fullmatch=True),
    st.text(max_size=20),
)
def test_any_text_equals_itself_and_equality_has_no_direction(a: str, b: str) -> None:
    first, second = plain_latex(a), plain_latex(b)
    assert compare(first, first, never)
    assert compare(first, second, no_algebra) == compare(second, first, no_algebra)


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_numbers_are_equal_to_all_their_spellings(whole: int, part: int) -> None:
    assert same(f"{whole:,}", str(whole))
    assert same(f"{whole}.0", rf"\${whole}")
    assert same(f"{whole}/{part}", rf"\frac{{{whole}}}{{{part}}}")
