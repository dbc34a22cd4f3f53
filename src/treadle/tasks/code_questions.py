"""What tasks have in common whose answers are programs: from rows to questions, public tests and hidden ones."""

from __future__ import annotations

import ast
import difflib
import keyword
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treadle.parsing.fences import fenced, syntax_tree
from treadle.parsing.python_names import defined_names, free_names
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.base import Sample
from treadle.tasks.opening import FieldNames, Opening, build_samples
from treadle.tasks.rows import Row, is_gold_name
from treadle.tasks.scorers.programs import HIDDEN_TESTS, ProgramScorer
from treadle.tasks.spec import Options
from treadle.tasks.task import Task

_NEAR = 0.8


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
        opening: The task's name. Options: ``seconds``, what a program may take for all its tests (else the sandbox
            says); ``fields``, the further fields that a workflow may see, with commas between them.
        rows: The rows of one file.
        names: Which fields are what.
        read: Makes a question of a row.
        hidden: Fields that ``fields`` may not name, beside the references and those whose names speak of tests.

    Raises:
        DatasetError: A row cannot be used; names the line.
    """
    seconds = _seconds(opening.options)
    private = _private(opening.options, rows, names, hidden)
    opening.options.finish()
    questions = {row.line: read(row) for row in rows}
    samples = build_samples(
        rows,
        names,
        target=lambda row: questions[row.line].reference,
        input=lambda row: questions[row.line].text,
        hidden=private,
    )
    return opening.task([_sample(sample, questions[sample.line]) for sample in samples], ProgramScorer(seconds))


def _private(options: Options, rows: Sequence[Row], names: FieldNames, hidden: Collection[str]) -> frozenset[str]:
    """The fields that no workflow may see: all that are not named, as nobody can tell which of them grade."""
    found = {name for row in rows for name in row.fields}
    named = [name for name in (part.strip() for part in options.take("fields").split(",")) if name]
    for name in named:
        if name not in found:
            options.refuse("fields", f"names {name!r}, but the fields found are {', '.join(sorted(found))}")
        if name in {*hidden, *names.taken} or is_gold_name(name) or "test" in name.casefold():
            options.refuse("fields", f"names {name!r}, which is the question, or grades, or gives the answer away")
    return frozenset(found - {*named})


def refuse_misspelt(rows: Sequence[Row], known: Collection[str]) -> None:
    """Refuse a field that looks like one that may be there and is not.

    What is optional would be missed without a word: public tests, a reference that is checked.

    Raises:
        DatasetError: Names the line, the field and what was meant.
    """
    missing = [name for name in known if not any(name in row.fields for row in rows)]
    for row in rows:
        for name in row.fields:
            near = difflib.get_close_matches(name, missing, n=1, cutoff=_NEAR) if name not in known else ()
            if near:
                raise row.fault(f"the field {name!r} is not used; did you mean {near[0]!r}?")


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
    """Whether a test does something with something when it is run; definitions, imports and constants alone do not."""
    tree = syntax_tree(test)
    idle = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
    statements = [node for node in (tree.body if tree else ()) if not isinstance(node, idle)]
    return any(isinstance(part, ast.Name) for node in statements for part in ast.walk(node))


def judges(test: str, names: Collection[str]) -> bool:
    """Whether a test speaks of a program and asserts or raises something, itself or by a call that says so.

    Args:
        test: Python.
        names: What the program is called in it.
    """
    nodes = list(ast.walk(syntax_tree(test) or ast.Module([], [])))
    used = {text for node in nodes for text in _texts(node)}
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    says = any("assert" in text.casefold() or "raises" in text for call in calls for text in _texts(call))
    return bool(used & {*names}) and (says or any(isinstance(node, ast.Assert | ast.Raise) for node in nodes))


def _texts(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    return (node.name,) if isinstance(node, ast.alias) else ()


def without_imports(tests: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tests of a list before which others import what they need: those imports, and the tests.

    Args:
        tests: Python.
    """
    place = 0
    while place < len(tests) and _only_imports(tests[place]):
        place += 1
    return tuple(tests[:place]), tuple(tests[place:])


def _only_imports(test: str) -> bool:
    tree = syntax_tree(test)
    kinds = [isinstance(node, ast.Import | ast.ImportFrom) for node in (tree.body if tree else ())]
    return bool(kinds) and all(kinds)


def lacking_names(tests: Sequence[str], setup: str) -> tuple[str, ...]:
    """The names that tests and what is set up for them use and nothing of them brings: a program has to.

    Args:
        tests: Python.
        setup: Python that is run before them.
    """
    trees = [syntax_tree(text) or ast.Module([], []) for text in (setup, *tests)]
    brought = {name for tree in trees for name in defined_names(tree)}
    # Nobody knows what a star brings, and what the program is asked for hides what is set up.
    return () if "*" in brought else tuple(sorted({name for tree in trees for name in free_names(tree)} - brought))


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
    if not value.isidentifier() or keyword.iskeyword(value):
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
