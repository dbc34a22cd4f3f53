"""Program of thought: the model writes a program, and what it computes is the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.programmer import programmer
from treadle.workflows.base import Calls
from treadle.workflows.cot import reasoning_turns
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import whole

VERSION = 1
MARKS = (
    ("\\boxed", "\\boxed{", "}"),
    ("<answer>", "<answer>", "</answer>"),
    ("####", "#### ", ""),
    ("Answer:", "Answer: ", ""),
)
"""How a task wants its answers marked: by what its sentence on them is known, and what stands around an answer."""


@dataclass(frozen=True, slots=True)
class ProgramOfThought(NamedWorkflow):
    """Write a program, run it, and answer with what it returns (Chen et al., arXiv 2211.12588).

    A program that fails is written anew with its error before it, ``tries`` programs at most; after that one chain of
    thought answers, the draw that ``cot`` makes.
    """

    name: ClassVar[str] = "program-of-thought"
    tries: int = whole(3, least=1, most=20)

    @property
    def runs_code(self) -> bool:
        """Always."""
        return True

    @property
    def calls(self) -> Calls:
        """One a program, and the chain of thought where none gives an answer."""
        return Calls(1, self.tries + 1, 1)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        result = await programmer(problem, run=run, tries=self.tries)
        if result.ok:
            return marked(problem, result.output)
        run.note("fallback", reason=result.output[:300], to="a chain of thought")
        completion = await run.ask(reasoning_turns(problem), draw=0)
        return completion.text


def marked(problem: Problem, answer: str) -> str:
    """An answer as the task wants it marked; alone, and as it is, where the task says nothing of that.

    Args:
        problem: The question.
        answer: A bare answer, which may bear the mark already.
    """
    for sign, before, after in MARKS:
        if sign in problem.answer_format:
            line = " ".join(answer.split())
            return line if sign in line else f"{before}{line}{after}"
    return answer
