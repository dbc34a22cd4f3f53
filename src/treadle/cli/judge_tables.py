"""What is known of a judge that compares pairs, as tables for people."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.text import Text

from treadle.cli import wording
from treadle.cli.output import clean
from treadle.cli.tables import Document, lines, plain_table, sections


def judged(document: Document) -> RenderableType | None:
    """The table of a judge's biases and its agreement with people; ``None`` where no judge compared pairs.

    Args:
        document: The document of ``eval`` or ``baseline``.
    """
    rows = [(row["workflow"], row["judge"]) for row in document["results"] if row.get("judge") is not None]
    if not rows:
        return None
    table = plain_table(
        ("judge of", ""),
        ("pairs", "right"),
        ("orders disagree %", "right"),
        ("first favoured", "right"),
        ("longer wins % [95 %]", "right"),
    )
    for workflow, judge in rows:
        position, length = judge["position"], judge["length"]
        table.add_row(
            clean(workflow),
            str(judge["pairs"]),
            wording.percent(position["disagree"]["share"]),
            _of(position["first"]),
            wording.score(length["share"], length["ci95"]),
        )
    agreement: Any = next((judge["agreement"] for _, judge in rows if judge["agreement"] is not None), None)
    return sections(table, Text() if agreement is None else lines([_agreement(agreement)]))


def _of(share: Document) -> str:
    return f"{share['count']} of {share['n']}" if share["n"] else wording.NOTHING


def _agreement(found: Document) -> str:
    labels = wording.plural(found["labels"], "human label")
    if not found["n"]:
        return f"agreement with people: none of {labels} was judged"
    judged = labels if found["n"] == found["labels"] else f"{found['n']} of {labels}"
    kappa = "" if found["kappa"] is None else f", kappa {found['kappa']:.2f}"
    agreed = wording.score(found["share"], found["ci95"])
    return (
        f"agreement with people: {agreed} % of {judged}{kappa} ({wording.plural(found['calls']['paid'], 'call')} paid)"
    )
