"""Chain of thought: one call that reasons before it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.turns import Turns, task_text, with_last_turn
from treadle.parsing.templates import Template
from treadle.workflows.base import Calls
from treadle.workflows.named import NamedWorkflow

VERSION = 1
COT = Template("Think step by step: work the answer out before you give it.\n\n{task}")
ANSWER_LINE = 'End with a line of the form "Answer: ..." that holds the final answer and nothing else.'


def reasoning_text(problem: Problem, question: str | None = None) -> str:
    """The last turn of the user, asked so that the model reasons before it answers and marks its answer.

    Args:
        problem: The question.
        question: Another wording of it.
    """
    return COT.fill(task=task_text(problem, ANSWER_LINE, question))


def reasoning_turns(problem: Problem) -> Turns:
    """The problem's chat with such a last turn."""
    return with_last_turn(problem, reasoning_text(problem))


@dataclass(frozen=True, slots=True)
class ChainOfThought(NamedWorkflow):
    """Ask once for steps and then the answer (Wei et al., arXiv 2201.11903; zero-shot: Kojima et al., 2205.11916)."""

    name: ClassVar[str] = "cot"

    @property
    def calls(self) -> Calls:
        """One."""
        return Calls.exactly(1)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        completion = await run.ask(reasoning_turns(problem), draw=0)
        return completion.text
