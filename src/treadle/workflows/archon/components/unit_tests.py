"""Unit tests in plain language: statements that a good answer fulfils, and candidates checked against them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.ties import tie_order
from treadle.operators.unit_tests import FEWEST, MOST, check_statements, write_statements
from treadle.workflows.archon.components.base import (
    Component,
    Count,
    Imagined,
    Picker,
    Requests,
    State,
    whole,
)

MOST_ASKED = 20
"""Statements that may be asked for; Archon's own files go so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestWriter(Component):
    """Writes check statements: ``statements`` of them, or 5 to 10 where no number is given."""

    __test__ = False
    kind: ClassVar[str] = "unit_test_generator"
    letter: ClassVar[str] = "u"
    role: ClassVar[str] = "tester"
    statements: int | None = None

    def __post_init__(self) -> None:
        Component.__post_init__(self)
        whole(self.kind, "statements", self.statements, 1, MOST_ASKED)

    def count(self, least: int, candidates: int, most: int) -> Count:
        """One, and one second ask."""
        return Count(1, candidates, 1, 2, least, most)

    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """It sees the question only."""
        return Imagined(state.candidates, state.critiques, requests.make(self.asked))

    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Write the statements."""
        fewest, most = (FEWEST, MOST) if self.statements is None else (self.statements, self.statements)
        statements = await write_statements(
            problem, run=run, fewest=fewest, most=most, player=self.player, instruction=self.prompt
        )
        return State(state.candidates, statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestChecker(Picker):
    """Orders the candidates by how many statements they pass, and keeps ``top_k`` of them, or all."""

    __test__ = False
    kind: ClassVar[str] = "unit_test_evaluator"
    letter: ClassVar[str] = "e"
    role: ClassVar[str] = "tester"

    def count(self, least: int, candidates: int, most: int) -> Count:
        """One a candidate, and one second ask each; none where no statement could be read."""
        return Count(candidates, self.kept(candidates), 0, 2 * most, self.kept(least), self.kept(most))

    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """Each check sees one candidate and all statements."""
        for candidate in state.candidates:
            requests.make(self.asked, candidate, state.statements)
        order = range(len(state.candidates))
        if state.statements is not None:
            order = tie_order(requests.question, len(state.candidates))
        return replace(state.in_order(order, self.top_k), statements=None)

    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Check the candidates; the statements have done their work."""
        ordered = await check_statements(
            problem,
            state.candidates,
            state.statements,
            run=run,
            top_k=self.top_k,
            player=self.player,
            instruction=self.prompt,
        )
        return State(ordered)
