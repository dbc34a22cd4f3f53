"""A row of which some repeats did not finish: its score rests on fewer answers than its questions suggest."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from treadle.cli import wording

if TYPE_CHECKING:
    from treadle.evaluation.report import Report, Row


def partial_rows(report: Report) -> dict[str, str]:
    """Which repeats of a row are there, in words, for rows that are not complete.

    Args:
        report: A measurement; rows without repeats say by their number of questions how far they came.
    """
    rows = [row for row in report.rows if row.repeats > 1]
    found = {row.workflow: _told(row) for row in rows}
    return {workflow: text for workflow, text in found.items() if text}


def _told(row: Row) -> str:
    if row.complete:
        return ""
    asked = len(row.ids)
    done = Counter(outcome.repeat for outcome in row.outcomes if outcome.finished)
    whole = sum(done[repeat] == asked for repeat in range(row.repeats))
    parts = [f"{done[repeat]} of {asked} in repeat {repeat + 1}" for repeat in sorted(done) if 0 < done[repeat] < asked]
    return f"{whole} of {wording.plural(row.repeats, 'repeat')} finished" + "".join(f", {part}" for part in parts)
