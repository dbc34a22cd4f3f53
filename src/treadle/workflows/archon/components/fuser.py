"""Fusers: new answers made of all candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.fuse import fuse
from treadle.workflows.archon.components.base import (
    MOST_SAMPLES,
    Component,
    Count,
    Imagined,
    Requests,
    State,
    whole,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuser(Component):
    """Writes ``samples`` new answers, each from all candidates and their critiques; they take the candidates' place."""

    kind: ClassVar[str] = "fuser"
    letter: ClassVar[str] = "f"
    role: ClassVar[str] = "fuser"
    makes: ClassVar[bool] = True
    samples: int = 1
    brief: bool = False
    """Whether it is asked not to be longer than the candidates (``length_control`` in Archon's files)."""

    def __post_init__(self) -> None:
        Component.__post_init__(self)
        whole(self.kind, "samples", self.samples, 1, MOST_SAMPLES)

    @property
    def drafts(self) -> int:
        """One a sample."""
        return self.samples

    def count(self, least: int, candidates: int, most: int) -> Count:
        """One call a sample."""
        return Count(self.samples, self.samples, self.samples, self.samples, 1, self.samples)

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
