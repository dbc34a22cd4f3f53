"""Different approaches to one question, then a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.generate import Attempt, generate_each
from treadle.operators.pick_best import pick_best
from treadle.operators.turns import task_text, with_last_turn
from treadle.parsing.templates import Template
from treadle.workflows.base import Calls
from treadle.workflows.cot import ANSWER_LINE
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import whole

VERSION = 1
APPROACH = Template("Work the answer out before you give it. {approach}\n\n{task}")
APPROACHES = (
    "Go forward: start from what is given and derive one thing after another until you have what is asked.",
    "Go backward: start from what is asked, say what you would need to know for it, and so on down to what is given.",
    "Write everything down formally first: name every quantity or part, state how they hang together, then solve.",
    "Guess first: propose a few possible answers, test each against everything that is given, and keep what passes.",
    "Take it apart: split the question into the smallest independent parts, answer each, then put them together.",
    "Be suspicious: say which mistake is easiest to make here, then answer so that you do not make it, and check.",
    "Go by likeness: recall a similar question whose solution you know, and carry its solution over step by step.",
    "Make it concrete: try a small or extreme example first, see what it shows, then answer the question itself.",
)


@dataclass(frozen=True, slots=True)
class Diverse(NamedWorkflow):
    """Answer by ``approaches`` different instructions and let the role ``judge`` compare what came out.

    When all approaches come to the same answer, by the task's equality, nobody needs to judge. The instructions
    differ, not the temperature: so that mistakes have less in common than those of draws of one prompt (as in DIVERSE
    prompts: Li et al., arXiv 2206.02336).
    """

    name: ClassVar[str] = "diverse"
    by_vote: ClassVar[bool] = True
    approaches: int = whole(3, least=2, most=len(APPROACHES), shown=True)

    @property
    def calls(self) -> Calls:
        """One a way, and a verdict where they differ, which may take a second ask."""
        return Calls(self.approaches, self.approaches + 2)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        task = task_text(problem, ANSWER_LINE)
        drafts = await generate_each(
            [
                Attempt(str(number), with_last_turn(problem, APPROACH.fill(approach=approach, task=task)))
                for number, approach in enumerate(APPROACHES[: self.approaches])
            ],
            run=run,
        )
        best = await pick_best(problem, drafts, run=run)
        return best.text
