"""What people preferred: pairs of answers that a judge can be held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from treadle.errors import DatasetError
from treadle.tasks.base import Preferred
from treadle.tasks.reference_answers import row_ids, said_by_assistant, shown_texts
from treadle.tasks.rows import Row, kind_of, read_rows

_WINNERS: Mapping[str, Preferred] = {"a": "a", "model_a": "a", "b": "b", "model_b": "b", "tie": "tie"}


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """Two answers to one turn of a question, and which of them a person preferred.

    Attributes:
        id: The question's id.
        turn: Which turn they answer, from 1.
        a: One side's answers up to this turn, or the last of them.
        b: The other side's.
        winner: What the person said.
    """

    id: str
    turn: int
    a: tuple[str, ...]
    b: tuple[str, ...]
    winner: Preferred


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question that labels may belong to: its id, and how many turns it has."""

    id: str
    turns: int


def read_labels(path: Path, questions: Mapping[str, LabelledQuestion]) -> tuple[HumanLabel, ...]:
    """Read what people preferred.

    Rows name their question (``question_id``, ``uid`` or ``id``) and the ``winner``: ``a``, ``b`` or ``tie``. The
    answers are ``a`` and ``b``, each a text or a list of one text a turn, or ``conversation_a`` and ``conversation_b``
    as in the published judgements of MT-bench. ``turn`` is by default that of the last answer given. Labels of
    questions that the task does not hold are left out.

    Args:
        path: A file of JSON objects, one a line.
        questions: The task's questions by every id they go by.

    Raises:
        DatasetError: A label cannot be used, or none belongs to a question of the task.
    """
    labels: list[HumanLabel] = []
    strangers: list[str] = []
    for row in read_rows(path):
        ids = row_ids(row)
        if not ids:
            raise row.fault("the label names no question; it needs one of the fields id, question_id, uid")
        question = next((questions[id] for id in ids if id in questions), None)
        if question is None:
            strangers.append(ids[0])
        else:
            labels.append(_label(row, question))
    if not labels:
        raise DatasetError(f"{path}: no label belongs to a question of the task (the first is for {strangers[0]!r})")
    return tuple(labels)


def _label(row: Row, question: LabelledQuestion) -> HumanLabel:
    winner = row.fields.get("winner")
    found = _WINNERS.get(winner.strip().casefold()) if isinstance(winner, str) else None
    if found is None:
        raise row.fault(f"the winner must be a, b or tie, not {winner!r:.40}")
    a, b = _side(row, "a"), _side(row, "b")
    turn = row.fields.get("turn")
    if turn is None:
        turn = max(len(a), len(b))
    if not isinstance(turn, int) or isinstance(turn, bool):
        raise row.fault(f"the turn must be a whole number, not {kind_of(turn)}")
    if not 1 <= turn <= question.turns:
        raise row.fault(f"the label is for turn {turn} of the question {question.id!r}, which has {question.turns}")
    return HumanLabel(question.id, turn, a[:turn], b[:turn], found)


def _side(row: Row, side: str) -> tuple[str, ...]:
    chat = f"conversation_{side}"
    if row.fields.get(chat) is not None and row.fields.get(side) is None:
        return shown_texts(row, chat, said_by_assistant(row, chat, row.fields[chat]))
    if row.fields.get(side) is None:
        raise row.fault(f"the label has no answer {side!r}; it needs a and b, or conversation_a and conversation_b")
    return shown_texts(row, side, row.fields[side])
