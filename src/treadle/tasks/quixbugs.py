"""``quixbugs:FILE``: a short program with one defect that is to be repaired (QuixBugs, SPLASH 2017)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from treadle.parsing.doc_examples import documented_asserts
from treadle.parsing.fences import fenced, syntax_tree
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.code_questions import CodeQuestion, code_task, entry_name
from treadle.tasks.opening import FieldNames, Opening
from treadle.tasks.rows import Row, read_rows
from treadle.tasks.task import Task

_CASES = "cases.json"
_HIDDEN = frozenset({"cases", "buggy_result", "correct_result", "uses_node"})
_NODE = '''\
class Node:
    """A node of a linked list, a tree or a graph."""

    def __init__(
        self, value=None, successor=None, successors=(), predecessors=(), incoming_nodes=(), outgoing_nodes=()
    ):
        self.value = value
        self.successor = successor
        self.successors = list(successors)
        self.predecessors = list(predecessors)
        self.incoming_nodes = list(incoming_nodes)
        self.outgoing_nodes = list(outgoing_nodes)
'''


def open_quixbugs(opening: Opening) -> Task:
    """Open a file with ``name``, ``buggy``, ``correct``, ``test`` (a pytest file) and ``cases`` (what it reads).

    The examples of the program's own documentation are public. Rows with ``uses_node`` may import a class ``Node``
    from the module ``node``.
    """
    names = FieldNames.of(opening.options, "buggy", "correct")
    rows = read_rows(opening.path())
    return code_task(opening, rows, names, lambda row: _question(row, names.input, names.target), _HIDDEN)


def _question(row: Row, input: str, target: str) -> CodeQuestion:
    name = entry_name(row, "name", "name")
    buggy = row.text(input, "input")
    modules = {"node": _NODE} if row.fields.get("uses_node") else {}
    public = documented_asserts(buggy, name)
    text = (
        f"The function `{name}` of this Python program has a defect. Repair it, and change no more than that needs."
        f"\n\n{fenced(buggy)}{_modules(modules)}"
    )
    tests = CodeTests((_test(row),), (name,), modules=modules, framework="pytest", module=name)
    return CodeQuestion(text, name, tests, row.text(target, "target"), public)


def _modules(modules: Mapping[str, str]) -> str:
    return "".join(f"\n\nThe module `{name}` is there:\n\n{fenced(text)}" for name, text in modules.items())


def _test(row: Row) -> str:
    """The test file, with the cases in it that it would read from a file beside it."""
    test = row.text("test", "test")
    tree = syntax_tree(test)
    if tree is None:
        raise row.fault("the field 'test' is not Python")
    cases: Any = row.fields.get("cases")
    if cases is None:
        if _CASES in test:
            raise row.fault(f"the test reads {_CASES}, but the row has no cases")
        return test
    return ast.unparse(_Inlined(cases).visit(tree))


class _Inlined(ast.NodeTransformer):
    """Puts values in place of ``json.loads(…"cases.json"….read_text())``."""

    def __init__(self, cases: Any) -> None:
        self._cases = ast.parse(repr(cases), mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  the visitor's own name
        loads = isinstance(node.func, ast.Attribute) and node.func.attr in {"load", "loads"}
        reads = any(isinstance(part, ast.Constant) and part.value == _CASES for part in ast.walk(node))
        return self._cases if loads and reads else self.generic_visit(node)
