"""What is said of programs before they are run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treadle.ledger.session import Session
    from treadle.tasks.task import Task
    from treadle.workflows.base import Workflow


def say_programs(session: Session, task: Task | None, workflows: Iterable[Workflow] = ()) -> None:
    """Say on stderr who would run programs, and in which sandbox; nothing where nobody would.

    Args:
        session: Knows which sandbox.
        task: What would be measured on.
        workflows: What would be measured.
    """
    from treadle.cli.output import say

    who = [f"the grading of {task.name}"] if task is not None and task.runs_code else []
    who += dict.fromkeys(workflow.name for workflow in workflows if workflow.runs_code)
    if who:
        say(f"programs would be run (sandbox {session.shared_sandbox.kind}) by {', '.join(who)}")
