"""What a worker is: somebody who does an assignment in a working copy and says what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from treadle.ledger.run import Run
from treadle.workspaces.workspace import Workspace

EndedBy = Literal["done", "steps", "tokens", "usd", "seconds", "format", "stuck", "context"]
"""How work ended: its worker said so, or by what.

``steps``, ``tokens``, ``usd`` and ``seconds`` are limits of the assignment; ``format``: too many replies in a row held
no action; ``stuck``: the same action again and again; ``context``: the model's window is full.
"""


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """What one assignment may take; ``None`` is no limit.

    Attributes:
        steps: Replies of the model.
        tokens: Input and output together.
        usd: Dollars.
        seconds: Latencies and commands together, as they were measured.
        format_errors: Replies in a row that hold no action.
    """

    steps: int = 40
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    format_errors: int = 3


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a worker shall do.

    Attributes:
        task: The whole instruction: the worker has no other memory.
        edits: Whether files shall be changed; else the answer is a report.
        role: The role that is asked.
        model: The model that is asked instead of whoever plays the role; its calls count for the role.
        limits: What it may take.
    """

    task: str
    edits: bool = True
    role: str = "worker"
    model: str | None = None
    limits: WorkLimits = field(default_factory=WorkLimits)


@dataclass(frozen=True, slots=True)
class WorkReport:
    """What came of an assignment; what was changed stands in the working copy.

    Attributes:
        text: What the worker says: its report, or what it thinks it did.
        ended_by: How it ended.
        steps: Replies that it took.
        reason: Why it ended, in words, where it was no end of its own.
    """

    text: str
    ended_by: EndedBy = "done"
    steps: int = 0
    reason: str = ""


class Worker(Protocol):
    """Does an assignment in a working copy, with whatever means it has."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    async def work(self, assignment: Assignment, workspace: Workspace, run: Run) -> WorkReport:
        """Do it, within its limits.

        Args:
            assignment: What to do.
            workspace: Where; the only files that may change.
            run: The only way to models and commands.

        Raises:
            SampleFailure: A model, the sandbox or the question's own cap failed it; the files stay as they are.
            UserError: What only the user can mend.
            RunLimitError: The run's budget is spent.
        """
        ...
