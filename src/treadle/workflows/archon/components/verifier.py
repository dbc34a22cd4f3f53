"""Verifiers: only the candidates that are judged correct go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.verify import verify
from treadle.workflows.archon.components.base import Count, Imagined, Picker, Requests, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier(Picker):
    """Reasons about each candidate, then gives a verdict; where none passes, all go on.

    With ``top_k`` only the first so many that pass go on; all are verified.
    """

    kind: ClassVar[str] = "verifier"
    letter: ClassVar[str] = "v"
    role: ClassVar[str] = "verifier"

    def count(self, least: int, candidates: int, most: int) -> Count:
        """Two a candidate, and one second ask for a verdict."""
        # Where none passes all go on, whatever top_k says.
        return Count(2 * candidates, self.kept(candidates), 2 * least, 3 * most, min(1, least), most)

    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """Each reasoning sees one candidate, each verdict the reasoning as well."""
        for candidate in state.candidates:
            reasoning = requests.make(self.asked, "reasoning", candidate)
            requests.make(self.asked, "verdict", candidate, reasoning)
        return Imagined(state.candidates[: self.top_k], state.critiques[: self.top_k], state.statements)

    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Verify them."""
        passed = await verify(
            problem, state.candidates, run=run, player=self.player, instruction=self.prompt, top_k=self.top_k
        )
        return State(passed, state.statements)
