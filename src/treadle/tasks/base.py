"""The values of a task and the two protocols it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from treadle.errors import FailureClass
from treadle.ledger.run import Run
from treadle.models.base import Message


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of a task.

    ``target`` and ``hidden`` never reach a workflow. ``group`` clusters rows that belong together (same article, same
    template): statistics and splits treat a group as one. ``further`` is what the user says after each answer, where a
    question has several turns. ``line`` is the row's line in its file, from 1. ``workspace`` is what a
    workflow works on besides, or a function that makes it when it is asked for; being a place of this machine, it is no
    part of the data.
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
    further: tuple[str, ...] = ()
    line: int = 0
    workspace: Any = None


Preferred = Literal["a", "b", "tie"]
"""Which of two answers is better."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two answers, a and b, that a judge compared in both orders.

    ``first`` is what it preferred where a stood first, ``second`` where b did; ``lengths`` are those of a and b in
    characters.
    """

    first: Preferred
    second: Preferred
    lengths: tuple[int, int]

    @property
    def winner(self) -> Preferred:
        """What both orders agree on; a tie where they do not."""
        return self.first if self.first == self.second else "tie"

    @property
    def value(self) -> float:
        """1 where a won, 0 where b did, 0.5 for a tie."""
        return {"a": 1.0, "b": 0.0, "tie": 0.5}[self.winner]


@dataclass(frozen=True, slots=True)
class Score:
    """What a scorer says of one answer.

    ``value`` is between 0 and 1; ``answer`` is what was read from the reply and graded; ``failure`` is set when there
    was nothing to grade (``format``) or a graded program died (``crash``, ``timeout``); it then counts as 0. ``duels``
    are the comparisons that a pairwise judge came to it by, the graded answer as a: one a turn. ``label`` names a kind
    of answer that is worth counting apart, such as an empty patch.
    """

    value: float
    answer: str
    reason: str = ""
    failure: FailureClass | None = None
    duels: tuple[Duel, ...] = ()
    label: str = ""


class Scorer(Protocol):
    """Grades answers, and says when two answers are one.

    ``same`` is reflexive and symmetric on whatever ``score`` reads from a reply, and false for a reply without an
    answer, even with itself; votes are counted with it. ``show``
    writes a target the way a good answer would (for solved examples). ``score`` may ask models through ``run`` (a
    judge); such calls are the scorer's and stay out of a structure's own cost. It never raises for bad replies. One
    that runs programs has an attribute ``runs_code`` that is true: a sandbox is then there before anything is spent.
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


@runtime_checkable
class PredictionWriter(Protocol):
    """A scorer whose answers can be graded elsewhere too, by what others publish for their own benchmark."""

    def write_predictions(self, folder: Path, workflow: str, answers: Mapping[str, str]) -> Path:
        """Write the answers of a workflow in that benchmark's own form.

        Args:
            folder: The run's folder; what is written stands somewhere below it, one file for each workflow.
            workflow: The workflow's name.
            answers: What was graded, by the sample's id.

        Returns:
            The file.
        """
        ...


@runtime_checkable
class Comparer(Protocol):
    """A scorer that compares two answers, so that its judge can be held against what people preferred."""

    async def compare(
        self, sample: Sample, turn: int, a: Sequence[str], b: Sequence[str], run: Run
    ) -> tuple[Duel | None, str]:
        """Compare two sides' answers to one turn, in both orders.

        Args:
            sample: The question.
            turn: Which of its turns is judged, from 1.
            a: One side's answers up to this turn, or the last of them.
            b: The other side's.
            run: Where the judge is asked.

        Returns:
            The comparison, or ``None`` where an order brought no verdict, and the judge's words.
        """
        ...
