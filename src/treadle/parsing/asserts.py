"""Reading the test cases that a reply writes as ``assert`` statements."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Iterator

from treadle.parsing.fences import syntax_tree
from treadle.parsing.python_names import free_names
from treadle.parsing.thinking import without_thinking

_START = re.compile(r"^(?P<lead>[ \t]*(?:(?:[-*+•]|[0-9]{1,3}[.)])[ \t]+)?`?)(?=assert\b)", re.MULTILINE)
_MOST_LINES = 20
_MOST_CHARACTERS = 4000


def asserts(reply: str, entry_point: str, known: Collection[str] = ()) -> list[str]:
    """Find the test cases of a reply: ``assert`` statements that call the entry point and stand on their own.

    Taken is what parses as one ``assert`` statement, wherever it stands: in a block, a function, a list or a line of
    prose. Its expression must call the entry point by its name and name nothing else but builtins, what is known and
    what it binds itself (comprehensions, lambdas); messages are left out. Of cases with the same syntax tree the first
    counts.

    Args:
        reply: A reply.
        entry_point: The function or class under test.
        known: Further names that tests may use.

    Returns:
        Each as one line of Python, in their order.
    """
    allowed = {entry_point, *known}
    unique: dict[str, ast.expr] = {}
    for statement in _statements(without_thinking(reply)):
        if _calls(statement.test, entry_point) and free_names(statement.test) <= allowed:
            unique.setdefault(ast.dump(statement.test), statement.test)
    return [text for test in unique.values() if (text := _text(test))]


def expression(test: str) -> str | None:
    """What an ``assert`` statement asserts, in a form in which equal ones are equal texts.

    Args:
        test: A piece of Python.

    Returns:
        ``None`` where it is not exactly one ``assert`` statement.
    """
    tree = syntax_tree(test)
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assert):
        return None
    return ast.dump(tree.body[0].test)


def _statements(text: str) -> Iterator[ast.Assert]:
    for start in _START.finditer(text):
        lead = start["lead"]
        rest = text[start.end() : start.end() + _MOST_CHARACTERS].split("\n")[:_MOST_LINES]
        if lead.endswith("`"):
            rest = [rest[0].partition("`")[0]]
        statement = _shortest(rest)
        if statement is not None:
            yield statement


def _shortest(lines: list[str]) -> ast.Assert | None:
    for count in range(1, len(lines) + 1):
        tree = syntax_tree(textwrap.dedent("\n".join(lines[:count])))
        if tree is not None:
            first = tree.body[0] if len(tree.body) == 1 else None
            return first if isinstance(first, ast.Assert) else None
    return None


def _calls(test: ast.expr, entry_point: str) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point
        for node in ast.walk(test)
    )


def _text(test: ast.expr) -> str | None:
    try:
        text = ast.unparse(ast.Assert(test, None))
    except (RecursionError, ValueError):
        return None
    return text if syntax_tree(text) is not None else None
