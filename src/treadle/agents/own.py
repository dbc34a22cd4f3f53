"""A worker of a user's own: ``module:function``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treadle.agents.base import Assignment, Worker, WorkReport
from treadle.errors import CrashError, RunLimitError, SampleFailure, UserError
from treadle.ledger.run import Run
from treadle.lookup import find_object, looks_like_path
from treadle.workspaces.workspace import Workspace

_FORM = "async def work(assignment, workspace, run) -> str"


def own_worker(spec: str, folder: Path) -> Worker:
    """The worker that ``module:function`` names: an async function of an assignment, a working copy and a run.

    It returns its report as a text or a `WorkReport`; what it changes in the working copy is the work.

    Args:
        spec: ``module:function``.
        folder: Where the module is looked for first.

    Raises:
        UserError: There is no such function, or it is of another kind.
    """
    if not looks_like_path(spec):
        raise UserError(f"{spec!r} names no worker: write module:function, such as my_worker:work")
    function = find_object(spec, folder)
    if not callable(function) or inspect.isclass(function):
        raise UserError(f"{spec} is no function; a worker is `{_FORM}`")
    if not (inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)):
        raise UserError(f"{spec} is not async; a worker is `{_FORM}`")
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        raise UserError(f"{spec} does not take an assignment, a workspace and a run; a worker is `{_FORM}`") from None
    return OwnWorker(spec, function)


@dataclass(frozen=True, slots=True)
class OwnWorker:
    """Somebody's own function at work.

    Attributes:
        name: ``module:function``.
        function: The function.
    """

    name: str
    function: Callable[..., Any]

    async def work(self, assignment: Assignment, workspace: Workspace, run: Run) -> WorkReport:
        """Have it do an assignment.

        Args:
            assignment: What to do.
            workspace: Where; it cannot be written where the assignment does not edit.
            run: The only way to models and commands.

        Raises:
            CrashError: It raised an error of its own, or returned something that is no report.
            SampleFailure: A model, the sandbox or a cap failed it.
            UserError: What only the user can mend.
            RunLimitError: The run's budget is spent.
        """
        workspace = workspace if assignment.edits else workspace.read_only
        try:
            made = await self.function(assignment, workspace, run)
        except (UserError, RunLimitError, SampleFailure):
            raise
        except (Exception, SystemExit) as error:
            raise CrashError(f"{self.name} raised {type(error).__name__}: {error}") from error
        if isinstance(made, str):
            return WorkReport(made)
        if isinstance(made, WorkReport):
            return made
        raise CrashError(f"{self.name} returned {type(made).__name__}; a worker returns a str or a WorkReport")
