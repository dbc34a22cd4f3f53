"""The functions of `treadle.api` for code without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from treadle.api import ablate, compare, evaluate, fix, run, search
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.api import WorkflowLike
    from treadle.evaluation.ablation_report import AblationReport
    from treadle.evaluation.ask import Answer
    from treadle.evaluation.compare import ComparisonReport
    from treadle.evaluation.report import Report
    from treadle.fixing.report import FixReport
    from treadle.search.report import SearchReport
    from treadle.workspaces.base import Repository

T = TypeVar("T")


def _finished(work: Coroutine[Any, Any, T], name: str) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UserError(f"{name}_sync cannot wait inside a running event loop; use `await treadle.{name}(…)` there")


def evaluate_sync(*workflows: WorkflowLike, **options: Any) -> Report:
    """`evaluate`, for code without an event loop."""
    return _finished(evaluate(*workflows, **options), "evaluate")


def run_sync(workflow: WorkflowLike, question: str, **options: Any) -> Answer:
    """`run`, for code without an event loop."""
    return _finished(run(workflow, question, **options), "run")


def compare_sync(a: WorkflowLike, b: WorkflowLike, **options: Any) -> ComparisonReport:
    """`compare`, for code without an event loop."""
    return _finished(compare(a, b, **options), "compare")


def fix_sync(repository: str | Path | Repository, issue: str, **options: Any) -> FixReport:
    """`fix`, for code without an event loop."""
    return _finished(fix(repository, issue, **options), "fix")


def search_sync(space: str, **options: Any) -> SearchReport:
    """`search`, for code without an event loop."""
    return _finished(search(space, **options), "search")


def ablate_sync(workflow: WorkflowLike, **options: Any) -> AblationReport:
    """`ablate`, for code without an event loop."""
    return _finished(ablate(workflow, **options), "api.ablate")
