"""Generators: new answers to the conversation as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.generate import Attempt, generate_each
from treadle.operators.turns import Turns, plain_turns, tagged, task_text, with_last_turn
from treadle.workflows.archon.components.base import Imagined, Requests, State, Writer

CHECKS = "A good reply passes all of these checks:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator(Writer):
    """Asks for ``samples`` answers to the conversation.

    Without an instruction it sends what the workflow ``single`` sends, so that both share their calls. Where check
    statements were written before it, they are part of what it is asked.
    """

    kind: ClassVar[str] = "generator"
    letter: ClassVar[str] = "g"
    role: ClassVar[str] = "generator"

    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """It sees no candidates."""
        draws = range(first_draw, first_draw + self.samples)
        made = tuple(requests.make(self.asked, state.statements, draw) for draw in draws)
        return Imagined(made, (None,) * len(made), state.statements)

    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Ask for the answers, all at once."""
        turns = self._turns(problem, state)
        draws = range(first_draw, first_draw + self.samples)
        attempts = [Attempt(f"{id}.{draw}", turns, draw, self.player) for draw in draws]
        return State(await generate_each(attempts, run=run), state.statements)

    def _turns(self, problem: Problem, state: State) -> Turns:
        if not state.statements and self.prompt is None:
            return plain_turns(problem)
        parts = [task_text(problem)]
        if state.statements:
            listed = "\n".join(f"{number}. {text}" for number, text in enumerate(state.statements, 1))
            parts.append(f"{CHECKS}\n{tagged('checks', listed)}")
        if self.prompt is not None:
            parts.append(self.prompt)
        return with_last_turn(problem, "\n\n".join(parts))
