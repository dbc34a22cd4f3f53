"""What is said of programs before they are run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treadle.ledger.session import Session
    from treadle.tasks.task import Task
    from treadle.workflows.base import Workflow


def say_programs(
    session: Session, task: Task | None, workflows: Iterable[Workflow] = (), *, tests: bool = True
) -> bool:
    """Say on stderr who would run programs, and in which sandbox; nothing where nobody would.

    Args:
        session: Knows which sandbox.
        task: What would be measured on.
        workflows: What would be measured.
        tests: Whether questions bring tests; without any, workflows that decide by tests run nothing.

    Returns:
        Whether programs would be run, as far as that is known: workflows of a user's own do not say it.
    """
    from treadle.cli.output import say

    given = list(workflows)
    who = [f"the grading of {task.name}"] if task is not None and task.runs_code else []
    who += dict.fromkeys(each.name for each in given if each.runs_code and (tests or not _by_tests(each)))
    # Nobody knows the calls of a function of the user's own, and as little what it runs.
    own = list(dict.fromkeys(each.name for each in given if each.calls.high is None and not each.runs_code))
    kind = session.shared_sandbox.kind
    if who:
        say(f"programs would be run (sandbox {kind}) by {', '.join(who)}")
    if own:
        say(f"own workflows may run programs too (sandbox {kind}): {', '.join(own)}")
    return bool(who)


def _by_tests(workflow: Workflow) -> bool:
    from treadle.workflows.alphacodium import AlphaCodium
    from treadle.workflows.best_of_n import BestOfN

    return workflow.name.partition("?")[0] in (AlphaCodium.name, BestOfN.name)
