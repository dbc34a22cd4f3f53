"""Fusers: new answers made of all candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.fuse import fuse
from treadle.workflows.archon.components.base import Imagined, Requests, State, Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuser(Writer):
    """Writes ``samples`` new answers, each from all candidates and their critiques; they take the candidates' place."""

    kind: ClassVar[str] = "fuser"
    letter: ClassVar[str] = "f"
    role: ClassVar[str] = "fuser"
    brief: bool = False
    """Whether it is asked not to be longer than the candidates (``length_control`` in Archon's files)."""

    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """It sees candidates and critiques."""
        seen = (state.candidates, state.critiques)
        draws = range(first_draw, first_draw + self.samples)
        made = tuple(requests.make(self.asked, seen, draw) for draw in draws)
        return Imagined(made, (None,) * len(made), state.statements)

    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Write the new answers, all at once."""
        fused = await fuse(
            problem,
            state.candidates,
            run=run,
            samples=self.samples,
            player=self.player,
            instruction=self.prompt,
            brief=self.brief,
            id=id,
            first_draw=first_draw,
        )
        return State(fused, state.statements)
