"""Self-Refine: a draft, then rounds of critique and rewriting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.critique import critique
from treadle.operators.generate import generate
from treadle.operators.refine import refine
from treadle.workflows.base import Calls
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import whole


@dataclass(frozen=True, slots=True)
class SelfRefine(NamedWorkflow):
    """Draft, criticise, write anew, ``rounds`` times at most (Madaan et al., arXiv 2303.17651).

    It stops early when the critic (role ``critic``) says ``NO CHANGES``, and when a rewriting changes nothing.
    """

    name: ClassVar[str] = "self-refine"
    rounds: int = whole(2, least=1, most=20, shown=True)

    @property
    def calls(self) -> Calls:
        """The draft and one critique at least; two calls a round at most."""
        return Calls(2, 1 + 2 * self.rounds)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        (draft,) = await generate(problem, run=run)
        for _ in range(self.rounds):
            reviewed = await critique(problem, draft, run=run)
            if reviewed.critique is None:
                break
            better = await refine(problem, reviewed, run=run)
            if better.shown == draft.shown:
                break
            draft = better
        return draft.text
