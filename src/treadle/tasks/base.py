"""The values of a task and the two protocols it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from treadle.errors import FailureClass
from treadle.ledger.run import Run
from treadle.models.base import Message


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of a task.

    ``target`` and ``hidden`` never reach a workflow. ``group`` clusters rows that belong together (same article, same
    template): statistics and splits treat a group as one. ``line`` is the row's line in its file, from 1.
    """

    id: str
    input: str
    target: Any = None
    group: str | None = None
    messages: tuple[Message, ...] | None = None
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hidden: Mapping[str, Any] = field(default_factory=dict[str, Any])
    public_tests: tuple[str, ...] = ()
    entry_point: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Score:
    """What a scorer says of one answer.

    ``value`` is between 0 and 1; ``answer`` is what was read from the reply and graded; ``failure`` is set when there
    was nothing to grade (``format``) or a graded program died (``crash``, ``timeout``); it then counts as 0.
    """

    value: float
    answer: str
    reason: str = ""
    failure: FailureClass | None = None


class Scorer(Protocol):
    """Grades answers, and says when two answers are one.

    ``same`` is reflexive and symmetric on whatever ``score`` reads from a reply, and false for a reply without an
    answer, even with itself; votes are counted with it. ``show``
    writes a target the way a good answer would (for solved examples). ``score`` may ask models through ``run`` (a
    judge); such calls are the scorer's and stay out of a structure's own cost. It never raises for bad replies.
    """

    @property
    def name(self) -> str:
        """The name in reports and in ``?scorer=``."""
        ...

    @property
    def judged(self) -> bool:
        """Whether grading asks a model: then targets are not checked against themselves and answers not voted on."""
        ...

    @property
    def answer_format(self) -> str:
        """One sentence for the model on how to write its answer; empty where any text will do."""
        ...

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade one answer (the workflow's whole reply)."""
        ...

    def same(self, a: str, b: str) -> bool:
        """Whether two replies give the same answer."""
        ...

    def show(self, target: Any) -> str:
        """A target as an answer."""
        ...
