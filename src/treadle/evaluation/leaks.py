"""Whether a hidden test stood in a prompt: then whatever came of the question says nothing."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from treadle.ledger.journal import Journal
from treadle.ledger.trace import CallEntry, Span
from treadle.parsing.asserts import asserts
from treadle.parsing.fences import syntax_tree
from treadle.sandbox.code_tests import CodeTests
from treadle.store.text import decode
from treadle.tasks.base import Sample
from treadle.tasks.scorers.programs import hidden_tests

SHORTEST = 12
"""Characters that count below which a text says too little to be recognised."""
_NO_MATTER = str.maketrans("", "", "\"'()\\")
_SHOWN = 200
_SAME_TIME = 1e-9


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a hidden test, and the forms in which it would be recognised."""

    text: str
    forms: frozenset[str]

    def is_in(self, compact: str) -> bool:
        return any(form in compact for form in self.forms)


async def find_leaks(journal: Journal, sample: Sample, span: Span) -> tuple[str, ...] | None:
    """Look for a question's hidden tests in all that models were sent for it.

    Layout, quotes and brackets do not count. What the question itself shows, and what an earlier reply to this question
    said (a model may guess a test, and be sent its own words), is no leak.

    Args:
        journal: Where the calls are kept.
        sample: The question.
        span: The trace of its answer.

    Returns:
        The tests that leaked; ``None`` where the question has no hidden tests.
    """
    tests = hidden_tests(sample)
    if tests is None:
        return None
    shown = compact("\n".join(_public(sample)))
    pieces = [piece for piece in _pieces_of(tests) if not piece.is_in(shown)]
    calls = list(_calls(span))
    records = await asyncio.gather(*(journal.call(call.key) for call in calls)) if pieces else []
    leaked: dict[str, None] = {}
    said: list[tuple[float, str]] = []
    for call, record in zip(calls, records, strict=False):
        if record is None:
            continue
        sent = compact("\n".join(_texts(decode(record.request))))
        for piece in pieces:
            if piece.is_in(sent) and not _was_said(piece, said, call.start, tests.entry_points):
                leaked[piece.text[:_SHOWN]] = None
        said.append((call.start + call.seconds, "\n".join(_texts(decode(record.completion)))))
    return tuple(leaked)


def compact(text: str) -> str:
    """A text without layout, quotes and brackets, in which the same statement is the same however it is written."""
    return "".join(text.translate(_NO_MATTER).split())


def _was_said(piece: _Piece, said: Sequence[tuple[float, str]], start: float, names: Sequence[str]) -> bool:
    """Whether a reply that had ended by then holds the piece, as it was written or as a test that was read from it."""
    for ended, reply in said:
        if ended <= start + _SAME_TIME:
            again = (compact(test) for name in names for test in asserts(reply, name))
            if piece.is_in(compact(reply)) or any(map(piece.is_in, again)):
                return True
    return False


def _public(sample: Sample) -> Iterator[str]:
    yield from (sample.input, *sample.public_tests, *sample.further)
    yield from (message.content for message in sample.messages or ())
    yield from _texts(sample.fields)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[Any, Any]", value).values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Any]", value):
            yield from _texts(each)


def _calls(span: Span) -> Iterator[CallEntry]:
    """The calls of a trace in program order."""
    for entry in sorted(span.entries, key=lambda entry: entry.place):
        if isinstance(entry, CallEntry):
            yield entry
        elif isinstance(entry, Span):
            yield from _calls(entry)


def _pieces_of(tests: CodeTests) -> tuple[_Piece, ...]:
    return _pieces(tests.tests, tests.entry_points, tests.check)


@lru_cache(maxsize=512)
def _pieces(texts: tuple[str, ...], names: tuple[str, ...], check: str | None) -> tuple[_Piece, ...]:
    """What would be recognised of tests: statements about the program and rows of tables; else each as a whole."""
    found: dict[str, _Piece] = {}
    for text in texts:
        tree = syntax_tree(text)
        if tree is None:
            continue
        given = [*names, *_parameters(tree, check)]
        own: dict[str, _Piece] = {}
        for node in _telling(tree, {*given}):
            source = ast.get_source_segment(text, node) or ast.unparse(node)
            forms = {compact(source), compact(ast.unparse(node))}
            # A test of `candidate` would be shown as one of the function that it stands for.
            forms |= {form.replace(name, names[0]) for form in forms for name in given[len(names) :] if names}
            if kept := frozenset(form for form in forms if len(form) >= SHORTEST):
                own[source] = _Piece(source, kept)
        if not own and len(compact(text)) >= SHORTEST:
            own[text] = _Piece(text.strip(), frozenset({compact(text)}))
        found |= own
    return tuple(found.values())


def _parameters(tree: ast.Module, check: str | None) -> list[str]:
    """What the function that is called with the program calls it."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == check]
    return [arg.arg for node in functions for arg in node.args.args[:1]]


def _telling(tree: ast.Module, names: set[str]) -> Iterator[ast.expr]:
    """The expressions that say what a program is tested with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            told = [node.test] if _names(node.test) & names else []
        elif isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) and node.value is not None:
            told = [*([node.value] if _names(node.value) & names else []), *_rows(node.value)]
        elif isinstance(node, ast.FunctionDef):
            calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
            told = [row for call in calls for argument in call.args for row in _rows(argument)]
        else:
            continue
        yield from told


_TABLES = (ast.List, ast.Tuple, ast.Dict)


def _rows(value: ast.expr) -> list[ast.expr]:
    """The rows of a table of cases: a list whose members are lists."""
    members = value.elts if isinstance(value, ast.List | ast.Tuple) else []
    return members if members and all(isinstance(each, _TABLES) for each in members) else []


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
