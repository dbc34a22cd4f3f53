"""Scores of each of several tasks, as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from treadle.cli import wording
from treadle.cli.output import clean
from treadle.cli.tables import Document, plain_table


def per_task(rows: Sequence[Document]) -> RenderableType | None:
    """The score of each row on each task; ``None`` where there is but one task.

    Args:
        rows: Rows with a ``workflow`` and, of joined tasks, ``tasks``.
    """
    known = [row for row in rows if row.get("tasks")]
    if not known:
        return None
    table = plain_table(("by task", ""), ("", ""), ("n", "right"), ("score %", "right"))
    for row in known:
        for place, task in enumerate(row["tasks"]):
            name = clean(row["workflow"]) if place == 0 else ""
            table.add_row(name, clean(task["task"]), str(task["n"]), wording.score(task["score"], task["ci95"]))
    return table
