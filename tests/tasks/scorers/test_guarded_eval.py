"""Verifiers of others that evaluate a model's text get arithmetic and nothing else."""

from __future__ import annotations

import builtins

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.tasks.scorers.guarded_eval import guarded_eval, is_arithmetic


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 2], [3, 4]]",
        "['a', 'b']",
        "(3 + 5) * 2 - 7 / 4",
        "Integer(3)*Symbol('x')**Integer(2) + sin(Symbol('x'))",
        "-x**2 + 3*y",
        "{1: 2}",
    ],
)
def test_arithmetic_passes(text: str) -> None:
    assert is_arithmetic(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd').read()",
        "().__class__.__bases__[0].__subclasses__()",
        "(lambda: 1)()",
        "[x for x in range(10**9)]",
        "f'{x!r}'",
        "sympify('__import__(\"os\")')",
        "lambdify(x, 'y')",
        "eval('1')",
        "Symbol.__init__",
        "x[0]",
        "(yield)",
        "x := 3",
        "two words",
        "import os",
        "(" * 500,
    ],
)
def test_everything_else_does_not(text: str) -> None:
    assert not is_arithmetic(text)


def test_the_guard_holds_for_guarded_callers_only() -> None:
    stranger = {"__name__": "reasoning_gym.algorithmic.some", "eval": guarded_eval}
    exec("def verify(answer): return eval(answer)", stranger)
    verify = stranger["verify"]
    assert callable(verify)
    assert verify("[1, 2]") == [1, 2]
    with pytest.raises(ValueError, match="more than arithmetic"):
        verify("__import__('os').getpid()")
    local = 3
    assert guarded_eval("local + len('ab')") == 5
    assert builtins.eval is not guarded_eval
    assert local == 3


@given(st.text(max_size=30))
def test_any_text_is_judged_without_an_error(text: str) -> None:
    assert is_arithmetic(text) in (True, False)
