"""One call: the question as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.turns import plain_turns
from treadle.workflows.base import Calls
from treadle.workflows.named import NamedWorkflow


@dataclass(frozen=True, slots=True)
class Single(NamedWorkflow):
    """Ask once; nothing is added to the question but the task's own word on how to write the answer."""

    name: ClassVar[str] = "single"

    @property
    def calls(self) -> Calls:
        """One."""
        return Calls.exactly(1)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        completion = await run.ask(plain_turns(problem), draw=0)
        return completion.text
