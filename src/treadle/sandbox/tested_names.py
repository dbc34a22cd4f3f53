"""The names of a program that tests use, read from the tests before any program runs."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def tested_names(module: str, entry_points: Sequence[str], texts: Iterable[str], setup: str) -> list[str]:
    """Entry points first, then what tests import of the program's module or use of it.

    A star import stands for the names that its text uses and that neither the text, the setup nor Python defines, so
    that a program can replace none of these.

    Args:
        module: The name of the program as a module; empty if tests cannot import it.
        entry_points: Names that tests may use anyway.
        texts: The tests.
        setup: What runs before them.
    """
    found = dict.fromkeys(name for name in entry_points if not name.startswith("__"))
    if module:
        before = _tree(setup)
        defined = {*dir(builtins), *_bound(before)}
        for tree in (before, *map(_tree, texts)):
            found.update(dict.fromkeys(name for name in _used(tree, module, defined) if not name.startswith("_")))
    return list(found)


def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _used(tree: ast.Module, module: str, defined: set[str]) -> Iterator[str]:
    nodes = list(ast.walk(tree))
    called = {module}
    for node in nodes:
        if isinstance(node, ast.Import):
            called.update(alias.asname for alias in node.names if alias.name == module and alias.asname)
        elif isinstance(node, ast.ImportFrom) and node.module == module and not node.level:
            for alias in node.names:
                if alias.name != "*":
                    yield alias.name
                    continue
                own = defined.union(_bound(tree))
                yield from (name.id for name in nodes if isinstance(name, ast.Name) and name.id not in own)
    for node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in called:
            yield node.attr


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a module's own statements, and not those of its functions, give a value."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in inner.names)
        elif isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            yield inner.id
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield inner.name
        if not isinstance(inner, _SCOPES):
            yield from _bound(inner)
