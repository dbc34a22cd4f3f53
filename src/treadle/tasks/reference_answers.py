"""A set of reference answers: what other answers are compared with, one answer a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from treadle.errors import DatasetError
from treadle.parsing.thinking import without_thinking
from treadle.tasks.rows import Row, kind_of, read_rows

ID_NAMES = ("id", "question_id", "uid")
"""Fields that say which question a row belongs to."""


@dataclass(frozen=True, slots=True)
class ReferenceAnswers:
    """What the answers to one question are compared with.

    Attributes:
        answers: A text for each turn.
        solutions: What the judge may hold both answers against, a text for each turn, empty where there is none.
    """

    answers: tuple[str, ...]
    solutions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """The answers of one file by question."""

    source: str
    answers: Mapping[str, tuple[str, ...]]

    def of(self, row: Row, id: str, turns: int) -> tuple[str, ...]:
        """The reference answers to a question.

        Args:
            row: The question's row; any of its ids may be the one that the file uses.
            id: The sample's id.
            turns: How many turns the question has; what the file has beyond them is left out.

        Raises:
            DatasetError: There is none, or one for fewer turns.
        """
        name = next((name for name in row_ids(row, id) if name in self.answers), None)
        if name is None:
            raise row.fault(f"{self.source} holds no answer to the question {id!r}")
        found = self.answers[name]
        if len(found) < turns:
            counted = f"{turns} turns, its answer in {self.source} only {len(found)}"
            raise row.fault(f"the question {id!r} has {counted}")
        return found[:turns]


def read_answers(path: Path) -> AnswerSet:
    """Read a set of answers, those of one model.

    Rows name their question (``question_id``, ``uid`` or ``id``) and hold its answers as FastChat writes them
    (``choices``, of which the first counts), as arena-hard-auto does (``messages``), or as plain ``answers``, ``turns``
    or ``answer``. Thinking is taken out.

    Args:
        path: A file of JSON objects, one a line.

    Raises:
        DatasetError: A row names no question or holds no answer, or a question stands twice.
    """
    lines: dict[str, int] = {}
    answers: dict[str, tuple[str, ...]] = {}
    for row in read_rows(path):
        id = next((name for name in row_ids(row)), None)
        if id is None:
            raise row.fault(f"the row names no question; it needs one of the fields {', '.join(ID_NAMES)}")
        if id in answers:
            raise DatasetError(
                f"{row.source}: the question {id!r} is answered on lines {lines[id]} and {row.line}; "
                "a reference set holds the answers of one model"
            )
        lines[id], answers[id] = row.line, _answers(row)
    return AnswerSet(str(path), answers)


def row_ids(row: Row, id: str = "") -> list[str]:
    """Every id of a row's question: the one given first, then those of its fields."""
    values = [row.fields.get(name) for name in ("question_id", "uid", "id")]
    named = [str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool)]
    return [id, *named] if id else named


def turn_texts(row: Row, name: str, turns: Any) -> tuple[str, ...]:
    """The texts of a list of turns, each a text or an object with a ``content``; one text is a list of one.

    Raises:
        DatasetError: It is something else, or empty.
    """
    given: list[Any] = cast(list[Any], turns) if isinstance(turns, list) else [turns]
    if not given:
        raise row.fault(f"the field {name!r} holds no turn")
    texts: list[str] = []
    for number, turn in enumerate(given, 1):
        text: Any = cast(Mapping[str, Any], turn).get("content") if isinstance(turn, dict) else turn
        if not isinstance(text, str):
            raise row.fault(f"turn {number} in {name!r} must be text, not {kind_of(text)}")
        if not text.strip():
            raise row.fault(f"turn {number} in {name!r} is empty")
        texts.append(text)
    return tuple(texts)


def said_by_assistant(row: Row, name: str, messages: Any) -> list[Any]:
    """What the assistant says in a chat; a content with an ``answer`` in it is that answer."""
    if not isinstance(messages, list):
        raise row.fault(f"the field {name!r} must be a list of chat turns, not {kind_of(messages)}")
    said: list[Any] = []
    for turn in cast(list[Any], messages):
        match turn:
            case {"role": "assistant", "content": {"answer": text}} | {"role": "assistant", "content": text}:
                said.append(text)
            case _:
                continue
    return said


def shown_texts(row: Row, name: str, turns: Any) -> tuple[str, ...]:
    """The texts of answers as they are compared: without their thinking.

    Raises:
        DatasetError: An answer is no text, or nothing is left of it.
    """
    shown = tuple(without_thinking(text).strip() for text in turn_texts(row, name, turns))
    if not all(shown):
        raise row.fault(f"turn {shown.index('') + 1} in {name!r} holds nothing but thinking")
    return shown


def _answers(row: Row) -> tuple[str, ...]:
    fields = row.fields
    if fields.get("choices") is not None:
        match fields["choices"]:
            case [{"turns": turns}, *_]:
                return shown_texts(row, "choices", turns)
            case _:
                raise row.fault("the field 'choices' must be a list of objects with 'turns'")
    if fields.get("messages") is not None:
        return shown_texts(row, "messages", said_by_assistant(row, "messages", fields["messages"]))
    for name in ("answers", "turns", "answer"):
        if fields.get(name) is not None:
            return shown_texts(row, name, fields[name])
    raise row.fault("the row holds no answer; it needs one of the fields choices, messages, answers, turns, answer")
