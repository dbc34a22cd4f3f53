"""Whether a hidden test stood in a prompt: then whatever came of the question says nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from treadle.evaluation.hidden_pieces import Piece, Text, pieces_of
from treadle.ledger.journal import Journal
from treadle.ledger.strand import Path
from treadle.ledger.trace import CallEntry, Span
from treadle.parsing.asserts import asserts
from treadle.parsing.fences import syntax_tree
from treadle.parsing.python_names import defined_names
from treadle.sandbox.code_tests import CodeTests
from treadle.store.text import decode
from treadle.tasks.base import Sample
from treadle.tasks.scorers.programs import hidden_tests

_SHOWN = 200
_TASKS = 1_000_000_000
"""Where the numbers of tasks begin in a place; see `treadle.ledger.strand`."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A call: where it stands in program order, what was sent and what came back."""

    place: Path
    sent: Text
    said: tuple[Text, ...]


async def find_leaks(journal: Journal, sample: Sample, span: Span) -> tuple[str, ...] | None:
    """Look for a question's hidden tests in all that models were sent for it.

    Layout, quotes and brackets do not count, nor do the words between a call and the value that it must give. What the
    question itself shows is no leak. Nor is what a model said by itself: a reply to this question that holds the test,
    or makes its call (what that gives is seen by running it), in a call that was not sent it. The reply may come from
    any branch, since branches can hand each other replies; in the same sequence of calls it must come first.

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
    shown = Text.of("\n".join(_public(sample)))
    pieces = [piece for piece in pieces_of(tests) if not piece.is_in(shown)]
    turns = await _turns(journal, span, tests) if pieces else []
    leaked = [piece.text[:_SHOWN] for piece in pieces if _leaked(piece, turns)]
    return tuple(dict.fromkeys(leaked))


def _leaked(piece: Piece, turns: Sequence[_Turn]) -> bool:
    told = [turn for turn in turns if piece.is_in(turn.sent)]
    if not told:
        return False
    own = [turn.place for turn in turns if not piece.is_in(turn.sent) and _says(turn, piece)]
    return not all(any(_may_precede(first, turn.place) for first in own) for turn in told)


def _says(turn: _Turn, piece: Piece) -> bool:
    return any(piece.is_in(text) or piece.is_called_in(text) for text in turn.said)


def _may_precede(a: Path, b: Path) -> bool:
    """Whether one call may have ended before another began: not where it comes later in the same sequence.

    A place is alternately a number in a sequence and a branch of a gather, or the number of a task that the workflow
    started. Of two branches, or of a task and what runs beside it, either may come first.
    """
    branch = False
    for x, y in zip(a, b, strict=False):
        task = max(x, y) >= _TASKS
        if x != y:
            return x < y or branch or task
        branch = not (branch or task)
    return False


async def _turns(journal: Journal, span: Span, tests: CodeTests) -> list[_Turn]:
    """The calls whose request is kept, also those that ended in an error, such as replies that were cut."""
    calls = list(_calls(span))
    records = await asyncio.gather(*(journal.call(call.key) for call in calls))
    setup = syntax_tree(tests.setup)
    known = set[str]() if setup is None else defined_names(setup)
    turns: list[_Turn] = []
    for call, record in zip(calls, records, strict=True):
        if record is not None:
            sent = Text.of("\n".join(_texts(decode(record.request))))
            reply = "\n".join(_texts(decode(record.completion)))
            # As an operator writes them again that has read the statements out of the reply.
            again = [test for name in tests.entry_points for test in asserts(reply, name, known)]
            turns.append(_Turn(call.place, sent, (Text.of(reply), *map(Text.of, again))))
    return turns


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
