"""The course that a repair takes, phase by phase, for whoever watches it or reads it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from treadle.ledger.spent import Spent
from treadle.workspaces.base import Patch, Tested

Phase = Literal["analysis", "exploration", "plan", "implementation", "review"]
Verdict = Literal["APPROVE", "REVISE"]
PatchState = Literal["patched", "unchanged", "empty"]


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """A phase of one round, as it ended.

    Attributes:
        phase: Which.
        round: Its number, from 1.
        mode: How the worker was told: ``guided``, ``strict`` or ``direct``; empty in the phases of the manager.
        verdict: What a review came to.
        patch: What an implementation left in the files; ``unchanged`` is the same patch as the round before.
        spent: What it costs fresh, by role.
        paid: What of that was not there already, by role.
        remark: What else is to be known, such as a fallback that was taken.
    """

    phase: Phase
    round: int
    mode: str = ""
    verdict: Verdict | None = None
    patch: PatchState | None = None
    spent: dict[str, Spent] = field(default_factory=dict[str, Spent])
    paid: dict[str, Spent] = field(default_factory=dict[str, Spent])
    remark: str = ""

    def document(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {
            "phase": self.phase,
            "round": self.round,
            "mode": self.mode or None,
            "verdict": self.verdict,
            "patch": self.patch,
            "remark": self.remark,
            "spent": {role: spent.document() for role, spent in self.spent.items()},
        }


@dataclass(slots=True)
class Course:
    """What happened so far; a watcher is a subclass that does something of its own at each step.

    Attributes:
        start: What the repository's files are at the start, as `Checkout.tree` gives it; empty before they are there.
        rows: The phases that have ended.
        plan: The plan, once there is one.
        patch: The last patch that was not empty; this is the answer.
        reviewed: Whether the manager approved it.
        tested: What the test command said of it, where it was run on it.
        remarks: What is special about the repository or the models.
    """

    start: str = ""
    rows: list[PhaseRow] = field(default_factory=list[PhaseRow])
    plan: str = ""
    patch: Patch = field(default_factory=Patch)
    reviewed: bool = False
    tested: Tested | None = None
    remarks: list[str] = field(default_factory=list[str])

    def begin(self, phase: Phase, round: int, mode: str = "") -> None:
        """A phase begins."""

    def end(self, row: PhaseRow) -> None:
        """A phase has ended."""
        self.rows.append(row)

    def remark(self, text: str) -> None:
        """Something is to be known."""
        self.remarks.append(text)

    async def approve_plan(self, plan: str) -> str:
        """The plan as it shall be carried out; a watcher may let somebody edit it."""
        return plan

    def changed(self, patch: Patch) -> None:
        """The files hold a new patch that is not empty."""
        self.patch, self.tested, self.reviewed = patch, None, False
