"""Who spent what, and what modes of one workflow show against its strong model alone, for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from treadle.cli import wording
from treadle.cli.names import Name
from treadle.cli.output import clean
from treadle.cli.tables import NO_VERDICT, VERDICT_STYLES, Document, plain_table, sections

_SAID = {
    "better": "better than the strong model alone",
    "worse": "worse than the strong model alone",
    "no difference": "no difference from the strong model alone within {margin}",
    "not worse": "not worse than the strong model alone within {margin}",
    "inconclusive": "inconclusive against the strong model alone within {margin}",
}


def spending(document: Document, folder: Path | None = None) -> RenderableType | None:
    """What belongs below the table of an ``eval`` of several roles; ``None`` where there is nothing to say.

    Args:
        document: The document of ``eval``.
        folder: Files below it are named from there.
    """
    parts = [who_spent(document["results"]), claims(document), predictions(document, folder)]
    return sections(*parts) if any(part is not None for part in parts) else None


def who_spent(rows: Sequence[Document]) -> RenderableType | None:
    """Tokens and dollars of each role, a line each; ``None`` where all roles are one model's and no answer is labelled.

    Args:
        rows: Rows with a ``workflow`` and, where there are any, ``roles`` and ``labels``.
    """
    models = {model for row in rows for role in row.get("roles", {}).values() for model in role["models"]}
    labels = list(dict.fromkeys(label for row in rows for label in row.get("labels", {})))
    if len(models) < 2 and not labels:
        return None
    table = plain_table(
        ("workflow", ""),
        *((clean(label), "right") for label in labels),
        ("role", "whole"),
        ("model", ""),
        ("tokens", "right"),
        ("share %", "right"),
        ("$", "right"),
    )
    order = list(dict.fromkeys(name for row in rows for name in row.get("roles", {})))
    for row in rows:
        counts = [str(row.get("labels", {}).get(label, 0)) for label in labels]
        for place, cells in enumerate(_roles(row, order)):
            first = (Name.of(row["workflow"]), *counts) if place == 0 else ("", *("" for _ in labels))
            table.add_row(*first, *cells)
    return Group(Text("who spent what (tokens and $ fresh, per question)", "dim"), table)


def claims(document: Document) -> RenderableType | None:
    """What each row shows against the strong model alone, in words; ``None`` where nothing is claimed.

    Args:
        document: The document of ``eval``.
    """
    found: Sequence[Document] = document.get("claims") or ()
    if not found:
        return None
    grid = Table.grid(padding=(0, 1))
    for claim in found:
        grid.add_row("•", _claim(claim))
    return grid


def predictions(document: Document, folder: Path | None = None) -> RenderableType | None:
    """Where answers were written for graders elsewhere; ``None`` where none were.

    Args:
        document: The document of ``eval``.
        folder: Files below it are named from there.
    """
    files: dict[str, str] = document.get("predictions") or {}
    if not files:
        return None
    shown = Text("\n".join(clean(_below(file, folder)) for file in files.values()), no_wrap=True, overflow="ignore")
    return Group(Text("predictions for the benchmark's own graders", "dim"), shown)


def _roles(row: Document, order: Sequence[str]) -> list[tuple[str | Name, ...]]:
    """A line for each role; one without a role where none is known."""
    roles: Document = row.get("roles") or {}
    whole = row["per_sample"]["tokens"]
    if not roles:
        usd = wording.NOTHING if whole is None else wording.money(row["per_sample"]["usd"])
        return [(wording.NOTHING, wording.NOTHING, wording.tokens(whole), wording.NOTHING, usd)]
    return [_role(name, roles[name], whole) for name in order if name in roles]


def _role(name: str, role: Document, whole: float | None) -> tuple[str | Name, ...]:
    fresh = role["per_sample"]
    return (
        clean(name) or wording.NOTHING,
        Name.of(", ".join(role["models"])),
        wording.tokens(fresh["tokens"]),
        wording.percent(fresh["tokens"] / whole) if whole else wording.NOTHING,
        wording.money(fresh["usd"]),
    )


def _claim(claim: Document) -> Text:
    verdict: str = claim["verdict"] or NO_VERDICT
    said = _SAID.get(verdict, f"{NO_VERDICT} against the strong model alone")
    margin = f"{claim['margin']:g} point{'' if claim['margin'] == 1 else 's'}"
    low, high = claim["ci95"]
    numbers = (
        f" ({wording.points(claim['difference'])} [{wording.points(low)}, {wording.points(high)}], n={claim['n']})"
    )
    return Text.assemble(
        f"{clean(claim['workflow'])}: ",
        (said.format(margin=margin), f"bold {VERDICT_STYLES.get(verdict, '')}".strip()),
        numbers,
        _strong(claim["strong_tokens"]),
        _needed(claim),
    )


def _needed(claim: Document) -> str:
    if claim["verdict"] != "inconclusive":
        return ""
    if claim["needed"] is None:
        return "; more questions are needed to tell"
    return f"; about {_round(claim['needed']):,} questions would tell, if both are equally good"


def _strong(tokens: Document) -> str:
    share, ci95 = tokens["share"], tokens["ci95"]
    if share is None:
        return ""
    if share == 0:
        return ", at none of its strong tokens"
    interval = "" if ci95 is None else f" [{_share(ci95[0])}, {_share(ci95[1])}]"
    return f", at {_share(share)}{interval} of its strong tokens"


def _share(value: float) -> str:
    """Two decimals, or two digits that count where those are none."""
    return f"{value:.2f}" if value >= 0.095 else f"{value:.2g}"


def _round(count: int) -> int:
    """A number to the two digits that such an estimate has, never fewer than it says."""
    unit = 10 ** max(0, len(str(count)) - 2)
    return -(-count // unit) * unit


def _below(file: str, folder: Path | None) -> str:
    """A file's name from a folder that holds it, else the whole."""
    path = Path(file)
    return str(path.relative_to(folder)) if folder is not None and path.is_relative_to(folder) else file
