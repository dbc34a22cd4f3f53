"""Best of n: several answers, of which a judge picks one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.generate import generate
from treadle.operators.pick_best import pick_best
from treadle.operators.prefer import knock_out
from treadle.workflows.base import Calls
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import one_of, whole


@dataclass(frozen=True, slots=True)
class BestOfN(NamedWorkflow):
    """Draw ``n`` plain answers and keep the one that the role ``judge`` finds best.

    With ``judge=list`` it sees all at once; with ``judge=pairs`` each in turn meets the best so far, in both orders
    (Zheng et al., arXiv 2306.05685), which costs more and is not swayed by places.
    """

    name: ClassVar[str] = "best-of-n"
    n: int = whole(5, least=1, most=100, shown=True)
    judge: Literal["list", "pairs"] = one_of("list", ("list", "pairs"))

    @property
    def calls(self) -> Calls:
        """No judge where all drafts are one answer; every verdict may take a second ask."""
        verdicts = min(self.n - 1, 1) if self.judge == "list" else 2 * (self.n - 1)
        return Calls(self.n, self.n + 2 * verdicts)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        drafts = await generate(problem, run=run, n=self.n)
        pick = pick_best if self.judge == "list" else knock_out
        best = await pick(problem, drafts, run=run)
        return best.text
