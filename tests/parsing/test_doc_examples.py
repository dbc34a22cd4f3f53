"""Examples of docstrings become assertions, and only those that say what a call returns."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.doc_examples import documented_asserts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (">>> f(1)\n2", ["assert f(1) == 2"]),
        (">>>f(1)\n    2\n", ["assert f(1) == 2"]),
        ("    >>> f('a b')  # a remark\n    ['a', 'b']\n    >>> f('')\n    []", ["assert f('a b') == ['a', 'b']"]),
        (">>> f([1,\n...    2])\n[[1],\n [2]]", ["assert f([1, 2]) == [[1], [2]]"]),
        (">>> round(f(1), 2)\n-0.5", ["assert round(f(1), 2) == -0.5"]),
        ("f(1) == 2\nf(2) -> 3\n- f(3) ➞ 4 # odd", ["assert f(1) == 2", "assert f(2) == 3", "assert f(3) == 4"]),
        ("f(4) => 5.\n* f(5) returns 6", ["assert f(4) == 5", "assert f(5) == 6"]),
        ('f({"a": 1}) should return False.', ["assert f({'a': 1}) == False"]),
        ("f(8, 2) => true\nf(3, 2) => FALSE\nf(0) ==> null", ["assert f(8, 2) == True", "assert f(3, 2) == False"]),
        (">>> f(1)\n2\n>>> f(1)\n2", ["assert f(1) == 2"]),
        (">>> helper(f(1))\n2", []),
        (">>> g(1)\n2", []),
        (">>> f(x)\n2", []),
        (">>> y = f(1)\n>>> y\n2", []),
        (">>> f(1)\nTraceback (most recent call last):\n    ...\nValueError: no", []),
        (">>> f(1)\n[1, ..., 9]", []),
        ("f(abc) => True\nf(2) -> 3 - 1\nf(n) == f(n-1) + 1\nthe call f(1) is 2", []),
        (">>> f(", []),
        ("", []),
    ],
)  # fmt: skip
def test_what_says_what_a_call_returns_is_read(text: str, found: list[str]) -> None:
    assert list(documented_asserts(text, "f"))[: len(found) or None] == found


def test_functions_that_the_question_brings_may_be_used() -> None:
    text = ">>> helper(f(1))\n2"
    assert documented_asserts(text, "f", {"helper"}) == ("assert helper(f(1)) == 2",)


@given(st.text(alphabet="f(1)>. =-\n'[]:#abc\x00\\", max_size=80))
def test_whatever_a_docstring_holds_the_result_is_python(text: str) -> None:
    for statement in documented_asserts(text, "f"):
        assert isinstance(ast.parse(statement).body[0], ast.Assert)
