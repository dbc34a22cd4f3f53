"""Critics: strengths and weaknesses of every candidate, in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.criticise import SECOND_ASKS, criticise
from treadle.workflows.archon.components.base import Component, Count, Imagined, Requests, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Critic(Component):
    """Says of each candidate what is strong and weak about it; the candidates stay as they are."""

    kind: ClassVar[str] = "critic"
    letter: ClassVar[str] = "c"
    role: ClassVar[str] = "critic"

    def count(self, least: int, candidates: int, most: int) -> Count:
        """One, and a bounded number of second asks for what is missing."""
        return Count(1, candidates, 1, 1 + SECOND_ASKS, least, most)

    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """It sees the candidates without earlier critiques."""
        made = requests.make(self.asked, state.candidates)
        critiques = tuple((made, place) for place in range(len(state.candidates)))
        return Imagined(state.candidates, critiques, state.statements)

    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Bind a critique to every candidate."""
        candidates = await criticise(problem, state.candidates, run=run, player=self.player, instruction=self.prompt)
        return State(candidates, state.statements)
