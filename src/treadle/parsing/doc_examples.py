"""Examples in a function's documentation, as assertions."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from treadle.parsing.fences import syntax_tree
from treadle.parsing.python_names import BUILTINS

_PROMPT = re.compile(r"^(?P<indent>\s*)>>>\s?(?P<source>.*)$")
_MORE = re.compile(r"^\s*\.\.\.(?:\s(?P<source>.*))?$")
_ARROW = re.compile(r"\s*(?:#\s*)?(?:==>|=>|-->|->|➞|→|==|=|\b(?:should\s+)?returns?\b)\s*")
_WORDS = {"true": "True", "false": "False", "none": "None", "null": "None"}
_MARKS = " \t*-•"


def documented_asserts(text: str, entry_point: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """Read the examples of a docstring that say what a call returns.

    These are prompts (``>>> f(1)`` with the value below it, as of Python's doctest) and lines such as ``f(1) == 2``,
    ``f(1) -> 2`` or ``f(1) should return 2``. What is expected must be a literal. What cannot be read so is left out,
    and so is an example that uses a name which nothing defines.

    Args:
        text: A docstring, or a program with one.
        entry_point: The function whose examples are wanted.
        known: Further names that examples may use.

    Returns:
        Statements ``assert f(1) == 2``, each once, in their order.
    """
    names = {entry_point, *known, *BUILTINS}
    lines = text.splitlines()
    pairs = [*_prompted(lines), *_pointed(lines, entry_point)]
    found = (_assertion(source, expected, entry_point, names) for _, source, expected in sorted(pairs))
    return tuple(dict.fromkeys(each for each in found if each))


def _prompted(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Every prompt with the lines below it, up to an empty one or the next prompt: place, source, expected."""
    for place, line in enumerate(lines):
        prompt = _PROMPT.match(line)
        if prompt is None:
            continue
        source, expected = [prompt["source"]], list[str]()
        for below in lines[place + 1 :]:
            more = _MORE.match(below) if not expected else None
            if more is not None:
                source.append(more["source"] or "")
            elif not below.strip() or _PROMPT.match(below) or below.strip() in {'"""', "'''"}:
                break
            else:
                expected.append(below.strip())
        yield place, "\n".join(source), "\n".join(expected)


def _pointed(lines: list[str], entry_point: str) -> Iterator[tuple[int, str, str]]:
    """Every line that is a call of the entry point and, behind an arrow or an equals sign, its value."""
    for place, line in enumerate(lines):
        text = line.strip(_MARKS)
        if not text.startswith(f"{entry_point}("):
            continue
        for arrow in _ARROW.finditer(text):
            if _expression(text[: arrow.start()]) is not None:
                yield place, text[: arrow.start()], text[arrow.end() :]
                break


def _assertion(source: str, expected: str, entry_point: str, names: Collection[str]) -> str:
    call, value = _expression(source), _literal(expected)
    if call is None or value is None:
        return ""
    used = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
    if entry_point not in used or not used <= {*names}:
        return ""
    return f"assert {ast.unparse(call)} == {ast.unparse(value)}"


def _expression(source: str) -> ast.expr | None:
    tree = syntax_tree(source.strip())
    statement = tree.body[0] if tree is not None and len(tree.body) == 1 else None
    return statement.value if isinstance(statement, ast.Expr) else None


def _literal(source: str) -> ast.expr | None:
    """The literal that a text is, at its start where remarks follow; ``None`` for anything else."""
    for text in (source.strip().rstrip(".;,"), source.partition("#")[0]):
        value = _expression(_WORDS.get(text.strip().casefold(), text))
        if value is None:
            continue
        try:
            ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        if not any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(value)):
            return value
    return None
