"""pass@k as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from treadle.cli import wording
from treadle.cli.output import clean
from treadle.cli.tables import Document, plain_table


def pass_at(rows: Sequence[Document]) -> RenderableType | None:
    """How often one of k answers is right, a line for each row and k; ``None`` where that was not asked for.

    Args:
        rows: Rows with a ``workflow`` and, where it was asked for, ``pass_at_k``.
    """
    known = [row for row in rows if row.get("pass_at_k")]
    if not known:
        return None
    table = plain_table(("one of k is right", ""), ("k", "right"), ("n", "right"), ("pass@k % [95 %]", "right"))
    for row in known:
        for place, (k, found) in enumerate(row["pass_at_k"].items()):
            name = clean(row["workflow"]) if place == 0 else ""
            table.add_row(name, k, str(found["n"]), wording.score(found["score"], found["ci95"]))
    return table
