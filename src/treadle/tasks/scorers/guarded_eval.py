"""A guard for verifiers of others that call ``eval`` on a model's text: literals and arithmetic pass, nothing else."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Mapping
from typing import Any

GUARDED = ("reasoning_gym", "sympy.parsing")

_NODES = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.Call,
    ast.keyword,
)

_FUNCTIONS = re.compile(
    "Integer|Float|Rational|Symbol|[Aa]bs|sign|floor|ceiling|sqrt|cbrt|root|exp|log|ln|factorial|binomial|gamma|erf|"
    "a?(?:sin|cos|tan|sec|csc|cot)h?|Pow|pow|Add|Mul|Max|max|Min|min|round|gcd|lcm|Eq"
)

_eval = builtins.eval


def is_arithmetic(text: str) -> bool:
    """Whether a Python expression holds literals, names, arithmetic and calls of known mathematical functions only."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(isinstance(node, _NODES) and _is_known_call(node) for node in ast.walk(tree))


def _is_known_call(node: ast.AST) -> bool:
    return not isinstance(node, ast.Call) or (
        isinstance(node.func, ast.Name) and _FUNCTIONS.fullmatch(node.func.id) is not None
    )


def guarded_eval(source: Any, scope: dict[str, Any] | None = None, local: Mapping[str, object] | None = None, /) -> Any:
    """``eval`` that refuses what is not arithmetic when a guarded package calls it.

    Raises:
        ValueError: The expression does more than arithmetic.
    """
    caller = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # there is no other way to know who asks
    if caller.f_globals.get("__name__", "").startswith(GUARDED) and not (
        isinstance(source, str) and is_arithmetic(source)
    ):
        raise ValueError("the expression does more than arithmetic")
    scope = caller.f_globals if scope is None else scope
    return _eval(source, scope, caller.f_locals if local is None else local)


def install_guard() -> None:
    """Put the guard in the place of ``eval``, in this process and for good."""
    builtins.eval = guarded_eval
