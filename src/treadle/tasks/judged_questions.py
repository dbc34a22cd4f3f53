"""Open questions whose answers a judge compares with a set of reference answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from treadle.errors import UserError
from treadle.tasks.human_labels import LabelledQuestion, read_labels
from treadle.tasks.opening import FieldNames, Opening, build_samples
from treadle.tasks.reference_answers import ID_NAMES, ReferenceAnswers, read_answers, row_ids, turn_texts
from treadle.tasks.rows import Row, number_ids, read_rows
from treadle.tasks.scorers.pairwise import PairwiseScorer
from treadle.tasks.task import Task

Solutions = Callable[[Row, str], tuple[str, ...]]
"""Reads the solutions that a row holds for the judge, one a turn, given the name of their field."""
_HIDDEN = frozenset({"turns", "prompt", "choices"})


def open_judged(opening: Opening, solutions: Solutions, *, hidden: frozenset[str] = frozenset()) -> Task:
    """Open a file of questions, each with its turns in ``turns`` or ``prompt``, and the answers to compare with.

    Args:
        opening: The task's name. Options: ``answers``, the file of reference answers (required); ``labels``, a file of
            what people preferred; ``input``, ``target`` (the solutions), ``id`` and ``group``, names of fields.
        solutions: Reads the solutions for the judge.
        hidden: Fields that no workflow may see.

    Raises:
        UserError: No reference answers are named.
        DatasetError: A file cannot be used.
    """
    reference, labelled = _reference(opening), _file(opening, "labels")
    rows = read_rows(opening.path())
    names = _names(opening, rows)
    opening.options.finish()
    answers = read_answers(reference)
    ids = dict(zip((row.line for row in rows), number_ids(rows, names.id), strict=True))
    turns = {row.line: turn_texts(row, names.input, row.get(names.input, "input")) for row in rows}

    def target(row: Row) -> ReferenceAnswers:
        return ReferenceAnswers(answers.of(row, ids[row.line], len(turns[row.line])), solutions(row, names.target))

    samples = build_samples(rows, names, target=target, input=lambda row: turns[row.line][0], hidden=_HIDDEN | hidden)
    samples = [replace(sample, further=turns[sample.line][1:]) for sample in samples]
    task = opening.task(samples, PairwiseScorer())
    if labelled is None:
        return task
    questions = {
        name: LabelledQuestion(ids[row.line], len(turns[row.line]))
        for row in rows
        for name in row_ids(row, ids[row.line])
    }
    return replace(task, labels=read_labels(labelled, questions))


def solution_texts(row: Row, value: Any, name: str) -> tuple[str, ...]:
    """The solutions in a field, one a turn; empty where the row holds none.

    Raises:
        DatasetError: It is neither text nor a list of texts.
    """
    given = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(given, list) or not all(isinstance(each, str | None) for each in given):  # pyright: ignore[reportUnknownVariableType]
        raise row.fault(f"the field {name!r} must be text, or a list of one text a turn")
    return tuple((each or "").strip() for each in given)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]


def _reference(opening: Opening) -> Path:
    path = _file(opening, "answers")
    if path is None:
        raise UserError(
            f"{opening.spec.text!r} names no answers to compare with: add ?answers=FILE, a file with another model's "
            "answer to every question (rows with id and answers, or as FastChat and arena-hard-auto write them)"
        )
    return path


def _file(opening: Opening, option: str) -> Path | None:
    name = opening.options.take(option)
    return opening.folder / Path(name).expanduser() if name else None


def _names(opening: Opening, rows: list[Row]) -> FieldNames:
    first = rows[0].fields
    names = FieldNames.of(opening.options, "turns" if "turns" in first else "prompt", "reference")
    return names if names.id else replace(names, id=next((name for name in ID_NAMES if name in first), ""))
