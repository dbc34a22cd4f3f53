"""A sandbox of the tests that counts, and questions whose workflows run programs in it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.sandbox.base import (
    Command,
    ExecResult,
    Limits,
    Program,
    Status,
    Surroundings,
    Traits,
)
from treadle.tasks.base import Sample
from treadle.tasks.scorers.unscored import Unscored
from treadle.tasks.task import Task
from treadle.workflows.base import Calls, Workflow

PROGRAM = Program("print(1)")


class Machine:
    """A sandbox that says how often it was used; every execution prints its number and takes as long as it is told."""

    name = "machine"
    identity = "machine 1"
    traits = Traits()

    def __init__(self, *, takes: float = 0.0, seconds: float = 2.0, status: Status = "ok", prints: str = "") -> None:
        self.takes = takes
        self.seconds = seconds
        self.status: Status = status
        self.prints = prints
        self.done: list[Program | Command] = []
        self.limits: list[Limits] = []
        self.running = 0
        self.most = 0
        self.ended = 0
        self.closed = 0

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = {},  # noqa: B006
        stdin: bytes = b"",
        limits: Limits = Limits(),  # noqa: B008
        surroundings: Surroundings = Surroundings(),  # noqa: B008
    ) -> ExecResult:
        self.running += 1
        self.most = max(self.most, self.running)
        self.limits.append(limits)
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.running -= 1
            self.ended += 1
        self.done.append(work)
        reason = "no room" if self.status == "refused" else ""
        return ExecResult(
            self.status, f"{len(self.done)}{self.prints}", exit_code=0, seconds=self.seconds, reason=reason
        )

    async def aclose(self) -> None:
        self.closed += 1


def echo(request: Request) -> str:
    return "ok"


def executions(run: Run) -> list[dict[str, Any]]:
    return [entry for entry in run._span.documents() if "execution" in entry]  # pyright: ignore[reportPrivateUsage]


TASK = Task("q", (Sample("q1", "What?"), Sample("q2", "Which?")), Unscored())


def running(*programs: str) -> Workflow:
    """A workflow that runs programs and answers with what they print."""

    async def answer(problem: Problem, run: Run) -> str:
        return " ".join([(await run.sandbox.execute(Program(text))).stdout for text in programs])

    return Workflow("running", answer, Calls(0, 0))
