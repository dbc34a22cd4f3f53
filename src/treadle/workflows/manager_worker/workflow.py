"""ManagerWorker as a workflow: an issue and a repository in, a patch out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from treadle.agents.base import Worker
from treadle.agents.own import own_worker
from treadle.agents.tool_worker import ToolWorker
from treadle.errors import Caution, RunLimitError, SampleBudgetError, SampleFailure, UserError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.turns import tagged
from treadle.parsing.excerpts import excerpt
from treadle.workflows.base import NO_WORKSPACE, Calls, Workflow
from treadle.workflows.manager_worker.course import Course
from treadle.workflows.manager_worker.manager import MOST_TASKS, ROLE, Manager
from treadle.workflows.manager_worker.repair import Repair, Strategy, StrictFrom
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import one_of, text, whole
from treadle.workspaces.base import Repository
from treadle.workspaces.checkout import open_checkout

Mode = Literal["full", "simple-loop", "strong", "weak", "weak-weak"]
MODES: tuple[Mode, ...] = ("full", "simple-loop", "strong", "weak", "weak-weak")
STRATEGIES: tuple[Strategy, ...] = ("guided-strict", "strict", "guided")
STARTS: tuple[StrictFrom, ...] = ("previous", "clean")
ISSUE_LIMIT = 40_000
"""Characters of an issue that models are shown."""
_EXPLORING: tuple[Mode, ...] = ("full", "weak-weak")
_MANAGED: tuple[Mode, ...] = ("full", "simple-loop", "weak-weak")


@dataclass(frozen=True, slots=True)
class ManagerWorker(NamedWorkflow):
    """A strong model that sees text only directs a cheap one that works in the repository (2603.26458).

    ``mode``: ``full``; ``simple-loop``, where the worker implements and the manager only reviews; ``strong`` and
    ``weak``, where the manager's or the worker's model works alone; ``weak-weak``, ``full`` with the worker's model in
    both roles. ``strategy``: how the worker is told in the first round and in later ones. ``strict_from``: whether a
    strict round after the first goes on from the files as they are, or begins with those at the start. ``worker``: a
    ``module:function`` of your own that works instead.
    """

    name: ClassVar[str] = "manager-worker"
    needs_workspace: ClassVar[bool] = True
    mode: Mode = one_of("full", MODES, shown=True)
    strategy: Strategy = one_of("guided-strict", STRATEGIES)
    strict_from: StrictFrom = one_of("previous", STARTS)
    explorations: int = whole(3, least=0, most=10)
    rounds: int = whole(3, least=1, most=10)
    steps: int = whole(40, least=1, most=500)
    explore_steps: int = whole(20, least=1, most=500)
    worker: str = text()

    @property
    def runs_code(self) -> bool:
        """Always: commands that a model writes."""
        return True

    @property
    def calls(self) -> Calls:
        """One step of a worker at least; all rounds with a second ask each, and all explorations, at most."""
        if self.mode not in _MANAGED:
            return Calls(1, 2 * self.steps)
        rounds = self.rounds * (2 * self.steps + 2)
        if self.mode not in _EXPLORING:
            return Calls(2, rounds)
        asked = 1 + bool(self.explorations)
        explored = self.explorations * (MOST_TASKS * self.explore_steps + 2)
        return Calls(asked + 2, 2 * asked + explored + rounds)

    @property
    def calls_by_role(self) -> tuple[tuple[str, Calls], ...]:
        """Calls of manager and worker; a worker of your own may ask others."""
        calls = self.calls
        if self.mode not in _MANAGED:
            return ((ROLE if self.mode == "strong" else "worker", calls),)
        if self.mode == "weak-weak":
            return (("worker", calls),)
        steps = 2 * self.steps * self.rounds
        if self.mode in _EXPLORING:
            steps += self.explorations * MOST_TASKS * self.explore_steps
        planned = 1 + bool(self.explorations) if self.mode in _EXPLORING else 0
        return ((ROLE, Calls(planned, (calls.high or steps) - steps)), ("worker", Calls(1, steps)))

    def in_folder(self, folder: Path) -> Workflow:
        """The workflow, with the worker of your own found.

        Raises:
            UserError: There is no such function, or it is no worker.
        """
        return replace(self.workflow, answer=Repairer(self, self.open_worker(folder)))

    def open_worker(self, folder: Path) -> Worker:
        """Who works.

        Args:
            folder: Where a module of your own is looked for first.

        Raises:
            UserError: There is no such function, or it is no worker.
        """
        return own_worker(self.worker, folder) if self.worker else ToolWorker()

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        return await Repairer(self, self.open_worker(Path.cwd()))(problem, run)


@dataclass(frozen=True, slots=True)
class Repairer:
    """ManagerWorker with its worker; the answer is the patch.

    Attributes:
        settings: Mode, strategy and limits.
        worker: Who works.
        course: What happens is told to it; to a new one for every problem where none is given.
    """

    settings: ManagerWorker
    worker: Worker
    course: Course | None = None

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Resolve an issue; the answer is the text of the last patch that was not empty.

        Raises:
            UserError: The problem comes without a repository, or its set-up fails.
            SampleFailure: A model, the sandbox or a cap failed it; the course holds what there was of a patch.
        """
        repository, settings = problem.workspace, self.settings
        if not isinstance(repository, Repository):
            raise UserError(NO_WORKSPACE.format(workflow=settings.name))
        course = self.course or Course()
        if isinstance(self.worker, ToolWorker):
            _warn_of_no_gap(settings.mode, run)
        async with open_checkout(repository, run.folder, run) as checkout:
            course.start = await checkout.tree()
            for remark in checkout.remarks:
                course.remark(remark)
                run.note("repository", remark=remark)
            issue = tagged("issue", excerpt(str(problem).replace("\0", "\N{REPLACEMENT CHARACTER}"), ISSUE_LIMIT))
            model = run.player("worker") if settings.mode == "weak-weak" else None
            manager = Manager(issue, model) if settings.mode in _MANAGED else None
            role = ROLE if settings.mode == "strong" else "worker"
            repair = Repair(settings, checkout, self.worker, manager, role, issue, course, run)
            try:
                plan = await repair.plan(await repair.explore()) if settings.mode in _EXPLORING else ""
                await repair.implement(plan)
            except (SampleFailure, RunLimitError) as error:
                await repair.test_salvaged()
                if not (isinstance(error, SampleBudgetError) and course.patch):
                    raise
                run.note("salvaged", reason=str(error))
        return course.patch.text


def _warn_of_no_gap(mode: Mode, run: Run) -> None:
    if mode not in ("full", "simple-loop") or run.identity("manager") != run.identity("worker"):
        return
    warnings.warn(
        f"manager and worker are the same model ({run.player('worker')}): without a gap in ability the structure is "
        "pure overhead (a weak model managing itself: 42 % with the most tokens of all, alone 44 %; arXiv 2603.26458)",
        Caution,
        stacklevel=2,
    )
