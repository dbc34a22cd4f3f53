"""What a workflow is: an async function of a problem and a run, with a name and a known number of calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run

AnswerFunction = Callable[[Problem, Run], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Calls:
    """Logical calls of one question, at least and at most; ``high`` is ``None`` where nothing bounds them."""

    low: int
    high: int | None

    @classmethod
    def exactly(cls, calls: int) -> Calls:
        """The same number for every question."""
        return cls(calls, calls)


@dataclass(frozen=True, slots=True)
class Workflow:
    """A named workflow, ready to answer.

    Attributes:
        name: Its canonical spec, such as ``"self-consistency?n=5"``; what reports and stores call it.
        answer: The async function itself.
        calls: Calls of one question; ``Calls(1, None)`` for a user's own function.
        votes: Whether answers are compared with the task's equality.
    """

    name: str
    answer: AnswerFunction
    calls: Calls
    votes: bool = False

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        return await self.answer(problem, run)
