"""What a fix came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from treadle.ledger.spent import Spent
from treadle.workflows.manager_worker.course import PhaseRow
from treadle.workspaces.base import Patch, Tested, shown_path

Status = Literal["patched", "empty", "budget", "failed"]
ROLES: tuple[str, ...] = ("manager", "worker")


@dataclass(frozen=True, slots=True)
class StrongTokens:
    """The tokens of the strong model, here and where it did the same task alone.

    Attributes:
        model: Who that is, as a text that is equal for equal models.
        here: Input and output together, of this fix, whoever it played.
        alone: The same of the strong model alone; ``None`` where no such run is known.
        run: The run in which it was alone.
        resolved: What the test command said of its patch there.
    """

    model: str
    here: int
    alone: int | None = None
    run: str | None = None
    resolved: bool | None = None

    @property
    def share(self) -> float | None:
        """The first as a share of the second."""
        return None if not self.alone else self.here / self.alone

    def document(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {
            "model": self.model,
            "here": self.here,
            "alone": self.alone,
            "share": self.share,
            "run": self.run,
            "resolved": self.resolved,
        }


@dataclass(frozen=True, slots=True)
class FixReport:
    """The document of `treadle.fix`.

    Attributes:
        run: Its id.
        task: What tells this issue in these files, with these commands, from others.
        ended_by: ``done``, ``infra``, ``budget`` or ``interrupt``.
        status: Whether there is a patch, and why not.
        message: Why it ended, where it was no end of its own.
        mode: As it was asked for.
        models: Who played each role: a model, or a worker of one's own.
        plan: The manager's plan; empty where there was none.
        patch: The last patch that was not empty.
        patch_file: The file that holds it byte for byte; ``None`` without one.
        rounds: What happened, phase by phase.
        approved: Whether the manager approved the patch.
        tested: What the test command said of it; ``None`` where it was not run.
        remarks: What is special about the repository or the models.
        usd: Dollars that this run paid; ``None`` when a model has no price.
        calls: Calls that this run asked for, paid and found cached.
        seconds: Wall clock.
        strong: The headline figure.
    """

    run: str
    task: str
    ended_by: str
    status: Status
    message: str
    mode: str
    models: Mapping[str, str]
    plan: str
    patch: Patch
    patch_file: str | None
    rounds: Sequence[PhaseRow]
    approved: bool
    tested: Tested | None
    remarks: Sequence[str]
    usd: float | None
    calls: Mapping[str, int]
    seconds: float
    strong: StrongTokens | None = field(default=None)

    @property
    def resolved(self) -> bool | None:
        """What the test command said of the final patch; ``None`` where it was not run."""
        return self.tested.passed if self.tested is not None else None

    @property
    def finished(self) -> bool:
        """Whether it came to an end of its own, cut short by no failure, limit or interruption."""
        return self.ended_by == "done" and not self.message

    @property
    def doubt(self) -> str:
        """Why the patch should not be taken unseen, in words; empty where nothing speaks against it."""
        if not self.finished:
            return f"the work was cut short: {self.message or self.ended_by}"
        if self.tested is not None:
            return "" if self.tested.passed else f"the test command does not pass: {self.tested.reason}"
        reviews = [row.verdict for row in self.rounds if row.verdict]
        return "the manager wants it revised" if reviews and not self.approved else ""

    def with_strong(self, strong: StrongTokens) -> FixReport:
        """The same with its headline figure."""
        return replace(self, strong=strong)

    def spent(self, *, paid: bool = False) -> dict[str, Spent]:
        """What each of the two roles cost; what a worker asked under another name is the worker's.

        Args:
            paid: Count only what this run paid for.
        """
        found = dict.fromkeys(ROLES, Spent())
        for row in self.rounds:
            for role, cost in (row.paid if paid else row.spent).items():
                found["manager" if role == "manager" else "worker"] += cost
        return found

    def document(self) -> dict[str, Any]:
        """The report as JSON values, as the contract says."""
        return {
            "run": self.run,
            "task": self.task,
            "ended_by": self.ended_by,
            "finished": self.finished,
            "status": self.status,
            "message": self.message,
            "mode": self.mode,
            "models": dict(self.models),
            "plan": self.plan,
            "patch": self.patch.text,
            "patch_file": self.patch_file,
            **self.patch.document(),
            "rounds": [row.document() for row in self.rounds],
            "approved": self.approved,
            "resolved": self.resolved,
            "test": _test(self.tested),
            "tokens": {role: cost.document() for role, cost in self.spent(paid=True).items()},
            "fresh": {role: cost.document() for role, cost in self.spent().items()},
            "strong_tokens": None if self.strong is None else self.strong.document(),
            "calls": dict(self.calls),
            "usd": self.usd,
            "seconds": self.seconds,
            "remarks": list(self.remarks),
        }


def _test(tested: Tested | None) -> dict[str, Any] | None:
    if tested is None:
        return None
    return {
        "passed": tested.passed,
        "reason": tested.reason,
        "output": tested.output,
        "seconds": tested.seconds,
        "steering": [shown_path(each) for each in tested.steering],
    }
