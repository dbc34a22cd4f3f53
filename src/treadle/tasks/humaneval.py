"""``humaneval:FILE``: a function to be completed from its signature and docstring (arXiv 2107.03374)."""

from __future__ import annotations

import ast

from treadle.parsing.doc_examples import documented_asserts
from treadle.parsing.fences import fenced, syntax_tree
from treadle.parsing.program_forms import prelude
from treadle.parsing.python_names import defined_names
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.code_questions import CodeQuestion, code_names, code_task, defines, entry_name, read_tests
from treadle.tasks.opening import Opening
from treadle.tasks.rows import Row, read_rows
from treadle.tasks.task import Task

_CHECK = "check"


def open_humaneval(opening: Opening) -> Task:
    """Open a file with ``prompt``, ``entry_point``, ``test`` (a function ``check(candidate)``), ``canonical_solution``.

    The examples of the docstring are the public tests, as they stand. Graded by ``check`` alone, as the authors do. A
    reply is a whole program, or goes on where the prompt ends.
    """
    rows = read_rows(opening.path())
    names = code_names(opening, rows, "canonical_solution")
    return code_task(opening, rows, names, lambda row: _question(row, names.input, names.target))


def _question(row: Row, input: str, target: str) -> CodeQuestion:
    header = row.text(input, "input")
    name = entry_name(row, "entry_point", "entry_point")
    before = prelude(header, name)
    (test, *more) = read_tests(row, "test", "test")
    if more or not defines(test, _CHECK):
        raise row.fault(f"the field 'test' must define a function {_CHECK}(candidate)")
    rest = row.fields.get(target)
    if rest is not None and not isinstance(rest, str):
        raise row.fault(f"the field {target!r} must be text")
    return CodeQuestion(
        f"Complete the Python function `{name}`.\n\n{fenced(header)}",
        name,
        CodeTests((test,), (name,), before, _CHECK),
        None if rest is None else header + rest,
        documented_asserts(header, name, defined_names(syntax_tree(before) or ast.Module([], []))),
        header,
    )
