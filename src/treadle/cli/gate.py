"""``--against`` and ``--fail-if``: a measurement answers to an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from treadle.errors import UnknownNameError, UserError

if TYPE_CHECKING:
    from treadle.evaluation.compare import ComparisonReport
    from treadle.evaluation.measured import Measured
    from treadle.evaluation.report import Report
    from treadle.ledger.session import Session
    from treadle.tasks.task import Task


def read_verdicts(given: str) -> tuple[str, ...]:
    """The verdicts of ``--fail-if``.

    Raises:
        UnknownNameError: When there is no such verdict.
    """
    from treadle.evaluation.statistics.paired import Verdict
    from treadle.workflows.settings import split_specs

    verdicts = split_specs(given, "--fail-if")
    for verdict in verdicts:
        if verdict not in get_args(Verdict):
            raise UnknownNameError("verdict", verdict, get_args(Verdict))
    return verdicts


async def read_earlier(session: Session, address: str, name: str, task: Task) -> Measured:
    """The row to compare with; what cannot be compared is refused before a call is made.

    Args:
        session: Whose store to read.
        address: ``RUN`` or ``RUN/WORKFLOW``; a run of several rows stands for its row of the same workflow.
        name: The workflow that will be measured.
        task: What it will be measured on.

    Raises:
        UserError: When there is no such row, it was graded otherwise, or it shares no question with the task.
    """
    from treadle.evaluation.found import found_workflows
    from treadle.evaluation.measured import find_run, read_measured
    from treadle.evaluation.preparing import prepare_workflows

    if "/" not in address:
        await session.journal.read(lambda store: find_run(store, address))
        samples = await session.journal.read(lambda store: store.samples(address))
        workflow = prepare_workflows((await found_workflows(session, [name])).workflows)[0].name
        measured = {sample.workflow for sample in samples}
        if len(measured) > 1 and workflow in measured:
            address = f"{address}/{workflow}"
    earlier = await read_measured(session, address)
    if earlier.scorer != task.scorer.name:
        raise UserError(f"{earlier.address} was graded by {earlier.scorer}, and {task.name} is by {task.scorer.name}")
    rows = task.row_hashes
    if not any(id in earlier.scores and earlier.rows.get(id) == rows[id] for id in rows):
        raise UserError(f"{earlier.address} was measured on {earlier.task} and shares no question with {task.name}")
    return earlier


async def against(session: Session, report: Report, earlier: Measured, margin: float) -> ComparisonReport | None:
    """A finished measurement of one workflow compared with an earlier one; ``None`` when it did not finish."""
    from treadle.evaluation.compare import compare_measured
    from treadle.evaluation.measured import read_measured

    if report.ended_by != "done":
        return None
    mine = await read_measured(session, f"{report.run}/{report.rows[0].workflow}")
    return compare_measured(mine, earlier, margin)


def objection(found: ComparisonReport | None, verdicts: Sequence[str]) -> str:
    """Why a change does not pass, or an empty text.

    Args:
        found: The comparison with the earlier run.
        verdicts: Those that do not pass.
    """
    if found is None:
        return ""
    if found.verdict is None:
        return f"no verdict against {found.b}: {found.message}"
    return f"the verdict against {found.b} is {found.verdict}" if found.verdict in verdicts else ""
