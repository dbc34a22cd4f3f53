"""The names that a program defines in its module's own scope, and those that it lacks."""

from __future__ import annotations

import ast

import pytest

from treadle.parsing.python_names import defined_names, free_names


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("def f(x):\n    y = x\n    def g(): ...\n", {"f"}),
        ("try:\n    import numpy\n    def f(): ...\nexcept ImportError:\n    def g(): ...\n", {"numpy", "f", "g"}),
        ("try: ...\nexcept OSError: ...\nelse: f = 1\nfinally: g = 2", {"f", "g"}),
        ("if x:\n    async def f(): ...\nelif y:\n    class g: h = 1\nelse:\n    i = 3", {"f", "g", "i"}),
        ("with a as f, b as (g, *h): i = 1", {"f", "g", "h", "i"}),
        ("for f, g in x: h = 1\nwhile x: i = 1", {"f", "g", "h", "i"}),
        ("f, (g, [h]) = i.j, k[l] = x", {"f", "g", "h"}),
        ("f: int = 3\ng += 1\nprint(h := 2)", {"f", "g", "h"}),
        ("import a.b, c as d\nfrom e import f as g, h\nfrom i import *", {"a", "d", "g", "h", "*"}),
        ("match x:\n    case [f, *g]: ...\n    case {'a': h, **i}: ...\n    case int() as j: ...", set("fghij")),
        ("f = [g for g in x]\nh = lambda i: (j := i)", {"f", "h"}),
        ("print(f)\nf.g = 1\nf[0] = 1", set[str]()),
    ],
)
def test_names_of_the_modules_own_scope_are_defined(program: str, names: set[str]) -> None:
    assert defined_names(ast.parse(program)) == names


def test_what_imports_bind_can_be_left_out() -> None:
    assert defined_names(ast.parse("import a\nfrom b import c as d\ne = 1\ndef f(): ..."), imports=False) == {"e", "f"}


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("def f(x, *a, y=Z, **k):\n    return g(x) + sum(a)\n", {"Z", "g"}),
        ("import math\nmath.pi\n[x for x in y]\ntry: ...\nexcept E as e: e", {"y", "E"}),
        ("def f(): f()\nclass g(h): i = j", {"h", "j"}),
    ],
)
def test_names_that_nothing_binds_are_free(program: str, names: set[str]) -> None:
    assert free_names(ast.parse(program)) == names


def test_a_deep_program_has_names_like_any_other() -> None:
    deep = ast.parse("f = 1" + " + 1" * 600)
    assert defined_names(deep) == {"f"}
