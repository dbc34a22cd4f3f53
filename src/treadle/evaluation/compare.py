"""Two runs, or two workflows, compared question by question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from treadle.errors import UserError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.measured import Measured, read_measured
from treadle.evaluation.preparing import TaskLike, WorkflowLike
from treadle.evaluation.report import INFRA_SHARE
from treadle.evaluation.statistics.paired import Comparison, compare_paired
from treadle.ledger.session import Session


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """The document of `treadle.compare`; the difference is ``a`` − ``b``, in points.

    ``flipped`` are the questions that one side gets right and the other wrong. Where the provider failed on more than
    5 % of either side's questions, ``ended_by`` is ``infra`` and no verdict is given.
    """

    a: str
    b: str
    comparison: Comparison
    flipped: tuple[str, ...]
    ended_by: str = "done"
    message: str = ""

    def document(self) -> dict[str, Any]:
        """The comparison as JSON values, as the contract says."""
        found = self.comparison
        return {
            "a": self.a,
            "b": self.b,
            "n": found.n,
            "difference": found.difference,
            "ci95": list(found.ci95),
            "p_value": found.p_value,
            "verdict": None if self.ended_by == "infra" else found.verdict,
            "flipped": list(self.flipped),
        }


async def compare(
    session: Session,
    a: WorkflowLike,
    b: WorkflowLike,
    *,
    task: TaskLike | None = None,
    margin: float = 2.0,
    **measuring: Any,
) -> ComparisonReport:
    """Compare two measured rows, or measure two workflows first; see `treadle.compare` for the arguments."""
    if task is None:
        if not isinstance(a, str) or not isinstance(b, str):
            raise UserError("comparing workflows needs a task to measure them on")
        return compare_measured(await read_measured(session, a), await read_measured(session, b), margin)
    report = await evaluate(session, [a, b], task, command="compare", **measuring)
    rows = [await read_measured(session, f"{report.run}/{row.workflow}") for row in report.rows]
    found = compare_measured(rows[0], rows[-1], margin)
    ended_by = found.ended_by if report.ended_by == "done" else report.ended_by
    return replace(found, ended_by=ended_by, message=report.message or found.message)


def compare_measured(a: Measured, b: Measured, margin: float = 2.0) -> ComparisonReport:
    """Compare two rows on the questions that both finished.

    Raises:
        UserError: When they share no question, or belong to different tasks.
    """
    if _data(a.task) != _data(b.task):
        raise UserError(f"{a.address} was measured on {a.task} and {b.address} on {b.task}; only one task compares")
    shared = [id for id in a.scores if id in b.scores]
    if not shared:
        raise UserError(f"{a.address} and {b.address} share no question")
    first = [a.scores[id] for id in shared]
    second = [b.scores[id] for id in shared]
    groups = [a.groups.get(id, id) for id in shared]
    found = compare_paired(first, second, groups, margin)
    if a.address == b.address:
        found = Comparison(found.n, 0.0, (0.0, 0.0), 1.0, "no difference")
    flipped = tuple(id for id, x, y in zip(shared, first, second, strict=True) if x == x and y == y and _differ(x, y))
    failed = max(side.infra_share for side in (a, b))
    message = f"the provider failed on {failed:.0%} of the questions: no verdict" if failed > INFRA_SHARE else ""
    return ComparisonReport(a.address, b.address, found, flipped, "infra" if message else "done", message)


def _differ(x: float, y: float) -> bool:
    return (x >= 0.5) != (y >= 0.5)


def _data(task: str) -> str:
    return task.partition("?")[0]
