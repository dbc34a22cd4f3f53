"""A space's document as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from treadle.cli import wording
from treadle.cli.output import clean
from treadle.cli.tables import commands, heading, plain_table, sections

Document = Mapping[str, Any]


def described(document: Document, models: int) -> RenderableType:
    """What a space holds.

    Args:
        document: The command's JSON document.
        models: How many models it was cut to.
    """
    counts = f"{wording.count(document['valid'])} structures of {wording.count(document['raw'])} combinations"
    beside = "" if document["name"].startswith("workflows:") else f", {wording.plural(models, 'model')}"
    return sections(
        heading(document["name"], counts + beside),
        _axes(document["axes"]),
        _constraints(document["constraints"]),
        _structures("cheapest", document["cheapest"]),
        _structures("dearest", document["dearest"]) if document["valid"] > len(document["cheapest"]) else None,
        commands([f"treadle search --space {document['name']} --task simulated:archon --method bayes --dry-run"])
        if "models" in document["axes"]
        else None,
    )


def _axes(axes: Document) -> RenderableType:
    table = plain_table(("axis", ""), ("values", ""))
    for name, values in axes.items():
        table.add_row(clean(name.replace("_", " ")), clean(", ".join(_shown(value) for value in values)))
    return table


def _shown(value: Any) -> str:
    return {None: "absent", True: "on", False: "off"}.get(value, str(value)) if not _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _constraints(constraints: Sequence[str]) -> RenderableType | None:
    return Text("\n".join(f"only where {clean(each)}" for each in constraints)) if constraints else None


def _structures(title: str, rows: Sequence[Document]) -> RenderableType:
    table = plain_table((title, ""), ("calls", "right"))
    for row in rows:
        table.add_row(wording.structure(clean(row["workflow"])), wording.count(row["calls"]))
    return table
