"""What a workflow is: an async function of a problem and a run, with a name and a known number of calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run

if TYPE_CHECKING:
    from treadle.operators.player import Player

NO_WORKSPACE = (
    "{workflow} works in a repository, and the questions here have none: use `treadle fix --repo DIR --issue FILE`, or "
    "a task with repositories such as swe:FILE?repos=DIR"
)
AnswerFunction = Callable[[Problem, Run], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Calls:
    """Logical calls of one question, at least and at most; ``high`` is ``None`` where nothing bounds them.

    ``usual`` is what it takes where nothing goes wrong, where that is known.
    """

    low: int
    high: int | None
    usual: int | None = None

    @property
    def likely(self) -> int:
        """What to plan with: the usual number, else the most, else the least."""
        return self.usual or self.high or self.low

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
        by_role: The same of each role that is asked, where that is known; together no more than all.
        votes: Whether answers are compared with the task's equality.
        players: Who is asked besides whoever is given: from the models given, and who is named for which role.
        remarks: What was not understood where it was read from.
        shown: Earlier replies that one prompt can hold at most; ``None`` for all of them.
        runs_code: Whether it runs code that a model wrote, so that it needs a sandbox.
        needs_workspace: Whether it works on files that come with a question.
    """

    name: str
    answer: AnswerFunction
    calls: Calls
    votes: bool = False
    players: Callable[[Sequence[str], Callable[[str], str | None]], Sequence[Player]] | None = None
    remarks: tuple[str, ...] = ()
    shown: int | None = None
    runs_code: bool = False
    needs_workspace: bool = False
    by_role: tuple[tuple[str, Calls], ...] = ()

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        return await self.answer(problem, run)
