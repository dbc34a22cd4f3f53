"""What tasks have in common whose answers are programs: from rows to questions, public tests and hidden ones."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treadle.parsing.fences import defined_names, fenced, syntax_tree
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.base import Sample
from treadle.tasks.opening import FieldNames, Opening, build_samples
from treadle.tasks.rows import Row
from treadle.tasks.scorers.programs import HIDDEN_TESTS, ProgramScorer
from treadle.tasks.spec import Options
from treadle.tasks.task import Task


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """What a row comes to.

    Attributes:
        text: The question.
        entry_point: The function or class that is wanted.
        tests: What grades a program; never shown.
        reference: A right program, where the row has one.
        public_tests: Statements that a workflow may run and show.
        header: The beginning of a program that the question shows and a reply may continue.
    """

    text: str
    entry_point: str
    tests: CodeTests
    reference: str | None = None
    public_tests: tuple[str, ...] = ()
    header: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """What programs and public tests need, for workflows that run them."""
        fields = {"setup": self.tests.setup, "header": self.header, "modules": dict(self.tests.modules)}
        return {name: value for name, value in fields.items() if value}


def code_names(opening: Opening, rows: Sequence[Row], target: str) -> FieldNames:
    """Which fields are what; without an ``id`` the benchmarks' own ``task_id`` is one."""
    names = FieldNames.of(opening.options, "prompt", target)
    own = "task_id" in rows[0].fields and not any("id" in row.fields for row in rows)
    return replace(names, id="task_id") if own and not names.id else names


def code_task(
    opening: Opening,
    rows: Sequence[Row],
    names: FieldNames,
    read: Callable[[Row], CodeQuestion],
    hidden: Collection[str] = (),
) -> Task:
    """The task of rows whose answers are programs.

    Args:
        opening: The task's name. Option: ``seconds``, what a program may take for all its tests; else the sandbox says.
        rows: The rows of one file.
        names: Which fields are what.
        read: Makes a question of a row.
        hidden: Fields that no workflow may see, beside the references and those whose names speak of tests.

    Raises:
        DatasetError: A row cannot be used; names the line.
    """
    seconds = _seconds(opening.options)
    opening.options.finish()
    questions = {row.line: read(row) for row in rows}
    tested = {name for row in rows for name in row.fields if "test" in name.casefold()}
    samples = build_samples(
        rows,
        names,
        target=lambda row: questions[row.line].reference,
        input=lambda row: questions[row.line].text,
        hidden=frozenset({*hidden, *tested}),
    )
    return opening.task([_sample(sample, questions[sample.line]) for sample in samples], ProgramScorer(seconds))


def _seconds(options: Options) -> float | None:
    if not options.take("seconds"):
        return None
    return options.number("seconds", 0.0) or options.refuse("seconds", "must be above 0: a program needs time to run")


def read_tests(row: Row, name: str, option: str, *, optional: bool = False) -> tuple[str, ...]:
    """A field with tests: a text, or a list of them, each of them Python that can fail.

    Raises:
        DatasetError: It is missing, is something else, or holds a test that could not fail.
    """
    value: Any = row.fields.get(name) if optional else row.get(name, option)
    given: list[Any] = value if isinstance(value, list) else [] if value is None else [value]  # pyright: ignore[reportUnknownVariableType]
    if not all(isinstance(each, str) for each in given):
        raise row.fault(f"the field {name!r} must be text, or a list of texts, each of them Python")
    tests = tuple(each for each in given if each.strip())
    if not tests and not optional:
        raise row.fault(f"the field {name!r} holds no test")
    for test in tests:
        if syntax_tree(test) is None:
            raise row.fault(f"the test {_short(test)} in {name!r} is not Python")
    return tests


def can_fail(test: str) -> bool:
    """Whether a test does something when it is run, so that it can fail; definitions and imports alone do not."""
    tree = syntax_tree(test)
    idle = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
    return any(
        not isinstance(node, idle) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in (tree.body if tree else ())
    )


def defines(source: str, name: str) -> bool:
    """Whether a text is Python that defines a name at its top level."""
    tree = syntax_tree(source)
    return tree is not None and name in defined_names(tree)


def optional_text(row: Row, name: str) -> str:
    """A field that is text where it is there, and Python."""
    value = row.fields.get(name)
    text = "\n".join(value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if text is None:
        return ""
    if not isinstance(text, str) or syntax_tree(text) is None:
        raise row.fault(f"the field {name!r} must be Python text")
    return text


def entry_name(row: Row, name: str, option: str) -> str:
    """A field that names a function or class."""
    value = row.text(name, option).strip()
    if not value.isidentifier():
        raise row.fault(f"the field {name!r} must be the name of a function or class, not {_short(value)}")
    return value


def shown_tests(public_tests: Sequence[str], *, more: bool) -> str:
    """What a question says of its public tests, and of more that are hidden; nothing where none is public."""
    if not public_tests:
        return ""
    words = "this test" if len(public_tests) == 1 else "these tests"
    others = ", and others that are not shown" if more else ""
    return f"\n\nThe program must pass {words}{others}:\n\n{fenced(chr(10).join(public_tests))}"


def _sample(sample: Sample, question: CodeQuestion) -> Sample:
    return replace(
        sample,
        fields={**sample.fields, **question.fields},
        hidden={HIDDEN_TESTS: question.tests},
        public_tests=question.public_tests,
        entry_point=question.entry_point,
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
