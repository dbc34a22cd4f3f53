from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.asserts import asserts, expression


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("1. assert f(1) == 2\n- `assert f(2) == 3` is the next", ["assert f(1) == 2", "assert f(2) == 3"]),
        ("* assert f(1) == 2\n", ["assert f(1) == 2"]),
        ("def test():\n    assert f([1,\n        2]) == 3\n", ["assert f([1, 2]) == 3"]),
        ("assert all(f(i) == g for i, g in [(1, 2)])", ["assert all((f(i) == g for i, g in [(1, 2)]))"]),
        ("x = 3\nassert f(x) == 3", []),
        ("assert 1 == 1\nassert obj.f(1) == 2\nassert f", []),
        ("assert math.isclose(f(1), 2)", ["assert math.isclose(f(1), 2)"]),
        ("assert f(1) == 2; import os", []),
        ("assert f(", []),
        ("asserting f(1) == 2", []),
        ("<think>assert f(1) == 9</think>assert f(1) == 2", ["assert f(1) == 2"]),
    ],
)
def test_only_assert_statements_that_stand_on_their_own_are_read(reply: str, found: list[str]) -> None:
    assert asserts(reply, "f", ["math"]) == found


@given(st.text(alphabet="asert f(1)=\n`-x[]\"'", max_size=80))
def test_whatever_is_read_is_an_assert_that_calls_the_entry_point(reply: str) -> None:
    for test in asserts(f"assert {reply}\nassert f(1) == 2", "f"):
        assert expression(test) is not None
        assert any(isinstance(node, ast.Call) for node in ast.walk(ast.parse(test)))


def test_equal_assertions_are_known_by_their_expression() -> None:
    assert expression("assert f( 1 ) == 2, 'so'") == expression("assert f(1) == 2")
    assert expression("assert f(1) == 2") != expression("assert f(1) == 3")
    assert expression("f(1)") is None
    assert expression("assert f(1); assert f(2)") is None
    assert expression("assert (") is None
