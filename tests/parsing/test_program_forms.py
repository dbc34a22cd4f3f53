"""Programs in a form to compare them by, and what stands before a function."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.program_forms import normal_form, prelude, signature

PLAIN = "def f(a):\n    return a + 1\n"


@pytest.mark.parametrize(
    "reply",
    [
        PLAIN,
        f"Here it is:\n```python\n{PLAIN}```\nDone.",
        'def f( a ):\n\n    """Add."""\n    # one\n    return (a+1)\n',
        f'"""A module."""\n{PLAIN}\n"text behind"\n',
        f"<think>def g(): return 2</think>\n{PLAIN}",
    ],
)
def test_layout_comments_and_docstrings_do_not_count(reply: str) -> None:
    assert normal_form(reply) == normal_form(PLAIN) != ""


@pytest.mark.parametrize("other", ["def f(a):\n    return a + 2\n", "def g(a):\n    return a + 1\n", "def f(a): pass"])
def test_everything_else_does(other: str) -> None:
    assert normal_form(other) not in ("", normal_form(PLAIN))


@pytest.mark.parametrize(
    "body", ["    return a + 1\n", "return a + 1", "\n    return a + 1\n", "```python\n    return a + 1\n```"]
)
def test_the_body_of_a_function_is_a_program(body: str) -> None:
    assert normal_form(body) == normal_form("return (a + 1)") != ""


@pytest.mark.parametrize(
    "reply", ["", "Sorry", "I cannot do this.", "```python\ndef f(:\n```", "not possible", "\x00", "42"]
)
def test_what_is_no_program_has_no_form(reply: str) -> None:
    assert normal_form(reply) == ""


@given(st.text(max_size=60))
def test_every_text_has_a_form_or_none(reply: str) -> None:
    assert normal_form(reply) in ("", normal_form(reply))


def test_what_a_header_brings_is_all_but_its_last_function() -> None:
    header = 'import math\n\n\ndef poly(x):\n    return math.pi * x\n\n\ndef find(xs: list):\n    """Find."""\n'
    brought = prelude(header, "find")
    scope: dict[str, object] = {}
    exec(brought, scope)  # noqa: S102  text of this test
    assert {"math", "poly"} <= set(scope)
    assert "find" not in scope
    assert prelude("def f(a):\n", "f") == prelude("def f(", "f") == ""


def test_a_signature_is_how_a_function_is_called() -> None:
    assert signature("def f(a, *, b: int = 0) -> str:\n    return ''", "f") == "f(a, *, b: int=0)"
    assert signature("f = lambda a: a", "f") == signature("def f(", "f") == "f"
