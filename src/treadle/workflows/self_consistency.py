"""Self-consistency: several chains of thought, and a majority vote over their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.generate import generate
from treadle.operators.vote import vote
from treadle.workflows.base import Calls
from treadle.workflows.cot import reasoning_turns
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import whole


@dataclass(frozen=True, slots=True)
class SelfConsistency(NamedWorkflow):
    """Draw ``n`` chains of thought and take the answer most of them give (Wang et al., arXiv 2203.11171).

    The draws are those of ``cot``; how different they are is the model's temperature, which is left as it is.
    """

    name: ClassVar[str] = "self-consistency"
    by_vote: ClassVar[bool] = True
    n: int = whole(5, least=1, most=1000, shown=True)

    @property
    def calls(self) -> Calls:
        """As many as votes."""
        return Calls.exactly(self.n)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        drafts = await generate(problem, run=run, n=self.n, turns=reasoning_turns(problem))
        if len(drafts) > 1 and len({draft.text for draft in drafts}) == 1:
            run.note("identical", drafts=len(drafts), reason="all drafts are one text; is the temperature 0?")
        winner = await vote(problem, drafts, run=run)
        return winner.text
