"""``mbpp:FILE``: short programs asked for in a sentence (arXiv 2108.07732), sanitized or in the first edition."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace

from treadle.parsing.fences import fenced, syntax_tree
from treadle.parsing.program_forms import signature
from treadle.parsing.python_names import defined_names
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.code_questions import (
    CodeQuestion,
    code_names,
    code_task,
    optional_text,
    read_tests,
    shown_tests,
)
from treadle.tasks.opening import Opening
from treadle.tasks.rows import Row, read_rows
from treadle.tasks.task import Task

_HIDDEN = frozenset({"code", "source_file"})


def open_mbpp(opening: Opening) -> Task:
    """Open a file with ``prompt`` or ``text``, ``code`` (the reference), ``test_imports`` and ``test_list``.

    ``?public=1``: so many of the first assertions are public and stand in the question; all of them grade. With
    ``?challenge=yes`` those of ``challenge_test_list`` grade, too.
    """
    public = opening.options.whole("public", 1)
    challenge = opening.options.one_of("challenge", ("no", "yes")) == "yes"
    rows = read_rows(opening.path())
    names = code_names(opening, rows, "code")
    if "prompt" not in rows[0].fields and "text" in rows[0].fields and names.input == "prompt":
        names = replace(names, input="text")

    def question(row: Row) -> CodeQuestion:
        return _question(row, names.input, names.target, public, challenge)

    return code_task(opening, rows, names, question, _HIDDEN)


def _question(row: Row, input: str, target: str, public: int, challenge: bool) -> CodeQuestion:
    reference = row.text(target, "target")
    tests = read_tests(row, "test_list", "test_list")
    if challenge:
        tests += read_tests(row, "challenge_test_list", "challenge_test_list", optional=True)
    setup = [optional_text(row, name) for name in ("test_imports", "test_setup_code")]
    before = "\n".join(filter(None, setup))
    own = _names(reference) - _names(before, imports=True)
    used = _tested(tests, own)
    if not used:
        raise row.fault(f"no function of {target!r} is called by the tests")
    built = [name for name in _tested([before], own) if name not in used]
    shown = tests[:public]
    call = "" if shown else f" Its signature is `{signature(reference, used[0])}`."
    # Without it nobody could know of the names, nor what they are called with.
    more = f"\n\nWhat stands before the tests uses it:\n\n{fenced(before)}" if built else ""
    text = f"{row.text(input, 'input').strip()}{call}{shown_tests(shown, more=len(tests) > len(shown))}{more}"
    return CodeQuestion(text, used[0], CodeTests(tests, (*used, *built), before), reference, shown)


def _names(source: str, *, imports: bool = False) -> set[str]:
    tree = syntax_tree(source)
    return defined_names(tree, imports=imports) if tree else set()


def _tested(tests: Sequence[str], defined: Collection[str]) -> tuple[str, ...]:
    """The names of a program that its tests use, those first that they call."""
    called: dict[str, None] = {}
    named: dict[str, None] = {}
    for test in tests:
        for node in ast.walk(syntax_tree(test) or ast.Module([], [])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called[node.func.id] = None
            elif isinstance(node, ast.Name):
                named[node.id] = None
    return tuple(name for name in {**called, **named} if name in defined)
