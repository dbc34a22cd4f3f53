"""``program:FILE``: a user's own questions whose answers are programs."""

from __future__ import annotations

import ast
import keyword
from dataclasses import dataclass
from typing import Literal

from treadle.parsing.fences import syntax_tree
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.code_questions import (
    CodeQuestion,
    can_fail,
    code_names,
    code_task,
    defines,
    entry_name,
    judges,
    lacking_names,
    optional_text,
    read_tests,
    refuse_misspelt,
    shown_tests,
    without_imports,
)
from treadle.tasks.opening import FieldNames, Opening
from treadle.tasks.rows import Row, read_rows
from treadle.tasks.task import Task

_CHECK = "check"
_FRAMEWORKS = ("plain", "pytest")


@dataclass(frozen=True, slots=True)
class _Names:
    """Which fields are what, and what the tests are."""

    of: FieldNames
    entry_point: str
    tests: str
    public: str
    setup: str
    framework: Literal["plain", "pytest"]
    module: str

    @property
    def hidden(self) -> frozenset[str]:
        """The fields that a workflow sees only as what they come to, if at all."""
        return frozenset({self.entry_point, self.tests, self.public, self.setup})


def open_program(opening: Opening) -> Task:
    """Open a file with ``prompt``, ``entry_point`` and ``tests`` (statements, or one text).

    Optional are ``public_tests`` (shown in the question, graded, too), ``setup`` (what tests need: imports, functions),
    ``solution`` (a reference, which must pass) and ``id``. Imports that stand before the tests of a list are a part of
    the setup; names that tests or setup use and do not bring are the program's to define. Names are mapped by
    ``?input=``, ``?target=`` (the solution), ``?entry_point=``, ``?tests=``, ``?public_tests=``, ``?setup=``, ``?id=``
    and ``?group=``. One text of tests that defines ``check(candidate)`` is called with the entry point. With
    ``?framework=pytest`` each is a pytest file that imports the program as ``solution``, or as ``?module=`` says.
    """
    rows = read_rows(opening.path())
    options = opening.options
    framework: Literal["plain", "pytest"] = (
        "pytest" if options.one_of("framework", _FRAMEWORKS) == "pytest" else "plain"
    )
    module = options.take("module")
    if module and (framework == "plain" or not module.isidentifier() or keyword.iskeyword(module)):
        options.refuse("module", "must be a name, and belongs to framework=pytest")
    fields = {name: options.take(name) or name for name in ("entry_point", "tests", "public_tests", "setup")}
    names = _Names(
        code_names(opening, rows, "solution"),
        fields["entry_point"],
        fields["tests"],
        fields["public_tests"],
        fields["setup"],
        framework,
        module or ("solution" if framework == "pytest" else ""),
    )
    refuse_misspelt(rows, {"id", "group", "prompt", "solution", *names.hidden, *names.of.taken})
    return code_task(opening, rows, names.of, lambda row: _question(row, names), names.hidden)


def _question(row: Row, names: _Names) -> CodeQuestion:
    name = entry_name(row, names.entry_point, "entry_point")
    first, public = without_imports(read_tests(row, names.public, "public_tests", optional=True))
    second, tests = without_imports(read_tests(row, names.tests, "tests"))
    setup = "\n".join(dict.fromkeys(filter(None, (optional_text(row, names.setup), *first, *second))))
    prompt = row.text(names.of.input, "input").strip()
    if not prompt:
        raise row.fault(f"the field {names.of.input!r} is empty")
    reference = row.fields.get(names.of.target)
    if reference is not None and not isinstance(reference, str):
        raise row.fault(f"the field {names.of.target!r} must be the text of a program")
    told = "" if name in prompt else f"\n\nThe program must define `{name}`."
    shown = shown_tests([test for test in public if test not in prompt], more=not {*tests} <= {*public})
    return CodeQuestion(
        f"{prompt}{told}{shown}", name, _tests(row, names, name, public, tests, setup), reference, public
    )


def _tests(
    row: Row, names: _Names, name: str, public: tuple[str, ...], tests: tuple[str, ...], setup: str
) -> CodeTests:
    graded = tuple(dict.fromkeys((*public, *tests)))
    check = _CHECK if names.framework == "plain" and len(tests) == 1 and defines(tests[0], _CHECK) else None
    if not any(judges(test, {name, names.module, *_parameter(test)}) for test in graded):
        raise row.fault(
            f"no program could fail these tests: none of them asserts anything of {name}; write statements such as "
            f"'assert {name}(1) == 2', or a function check(candidate) that asserts"
        )
    if names.framework == "pytest":
        return CodeTests(tests, (name,), setup, framework="pytest", module=names.module)
    if check is not None:
        # Plain statements cannot stand beside a function that is called: they become a part of its test.
        graded = ("\n".join(graded),)
    for test in graded if check is None else ():
        if not can_fail(test):
            raise row.fault(
                f"the test {test[:60]!r} says nothing of a program, so no program could fail it; write statements such "
                f"as 'assert {name}(1) == 2', a function check(candidate), or add ?framework=pytest for pytest files"
            )
    entry_points = tuple(dict.fromkeys((name, *lacking_names(graded, setup))))
    return CodeTests(graded, entry_points, setup, check)


def _parameter(test: str) -> set[str]:
    """What a function ``check`` calls the program."""
    tree = syntax_tree(test)
    functions = [node for node in (tree.body if tree else ()) if isinstance(node, ast.FunctionDef)]
    return {argument.arg for node in functions if node.name == _CHECK for argument in node.args.args[:1]}
