"""Two runs, or two workflows, compared question by question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Unpack

from treadle.errors import UserError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.leak_lists import Leaks, joined, leak_message
from treadle.evaluation.measured import Measured, read_measured
from treadle.evaluation.measuring import Measuring
from treadle.evaluation.preparing import TaskLike, WorkflowLike
from treadle.evaluation.report import INFRA_SHARE
from treadle.evaluation.statistics.paired import Comparison, Verdict, compare_paired
from treadle.ledger.session import Session


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """The document of `treadle.compare`; the difference is ``a`` − ``b``, in points.

    ``flipped`` are the questions that one side gets right and the other wrong. Where the provider failed on more than
    5 % of either side's questions, ``ended_by`` is ``infra`` and no verdict is given; none is either where hidden tests
    stood in the prompts of a side (``leaks``; ``None`` where no question has hidden tests).
    """

    a: str
    b: str
    comparison: Comparison | None
    flipped: tuple[str, ...] = ()
    ended_by: str = "done"
    message: str = ""
    leaks: Leaks | None = None

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, or ``None`` where none is given."""
        return self.comparison.verdict if self.comparison and self.ended_by == "done" and not self.leaks else None

    @property
    def usable(self) -> bool:
        """Whether something was compared, and no hidden test stood in a prompt."""
        return self.comparison is not None and self.comparison.n > 0 and not self.leaks

    def document(self) -> dict[str, Any]:
        """The comparison as JSON values, as the contract says; ``leaks`` only where questions have hidden tests."""
        found = self.comparison
        return {
            "a": self.a,
            "b": self.b,
            "n": found.n if found else 0,
            "difference": found.difference if found else None,
            "ci95": list(found.ci95) if found else None,
            "p_value": found.p_value if found else None,
            "verdict": self.verdict,
            "flipped": list(self.flipped),
            "ended_by": self.ended_by,
            "message": self.message,
        } | ({} if self.leaks is None else {"leaks": self.leaks})


async def compare(
    session: Session,
    a: WorkflowLike,
    b: WorkflowLike,
    *,
    task: TaskLike | None = None,
    margin: float = 2.0,
    repeat: int = 1,
    **measuring: Unpack[Measuring],
) -> ComparisonReport:
    """Compare two measured rows, or measure two workflows first; see `treadle.compare` for the arguments."""
    if task is None:
        if not isinstance(a, str) or not isinstance(b, str):
            raise UserError("comparing workflows needs a task to measure them on")
        return compare_measured(await read_measured(session, a), await read_measured(session, b), margin)
    report = await evaluate(session, [a, b], task, command="compare", repeat=repeat, **measuring)
    first, second = report.rows[0].workflow, report.rows[-1].workflow
    names = f"{report.run}/{first}", f"{report.run}/{second}"
    if report.ended_by not in ("done", "infra"):
        return ComparisonReport(*names, None, (), report.ended_by, report.message, report.leaks)
    found = compare_measured(await read_measured(session, names[0]), await read_measured(session, names[1]), margin)
    return replace(found, message=report.message or found.message, leaks=report.leaks)


def compare_measured(a: Measured, b: Measured, margin: float = 2.0) -> ComparisonReport:
    """Compare two rows on the questions that both finished.

    Raises:
        UserError: When they share no question, or were not graded alike.
    """
    if a.scorer != b.scorer:
        raise UserError(f"{a.address} was graded by {a.scorer} and {b.address} by {b.scorer}; only one scorer compares")
    shared = [id for id in a.scores if id in b.scores and a.rows.get(id) == b.rows.get(id)]
    if not shared:
        raise UserError(f"{a.address} ({a.task}) and {b.address} ({b.task}) share no question")
    first = [a.scores[id] for id in shared]
    second = [b.scores[id] for id in shared]
    found = compare_paired(first, second, [a.groups.get(id, id) for id in shared], margin)
    if a.address == b.address:
        found = Comparison(found.n, 0.0, (0.0, 0.0), 1.0, "no difference")
    flipped = tuple(id for id, x, y in zip(shared, first, second, strict=True) if _flipped(x, y))
    failed = max(side.infra_share for side in (a, b))
    message = f"the provider failed on {failed:.0%} of the questions: no verdict" if failed > INFRA_SHARE else ""
    leaks = joined((a.leaks, b.leaks))
    ended_by = "infra" if message else "done"
    return ComparisonReport(a.address, b.address, found, flipped, ended_by, message or leak_message(leaks), leaks)


def _flipped(x: float, y: float) -> bool:
    return not isnan(x) and not isnan(y) and (x >= 0.5) != (y >= 0.5)
