"""Documents as tables for people; every function is pure and returns what rich can print."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from treadle.cli import wording
from treadle.cli.names import Name
from treadle.cli.next_steps import next_steps
from treadle.cli.output import clean
from treadle.cli.unusable import Unusable

Document = Mapping[str, Any]
WIDE = 132
"""Columns from which one table holds scores and costs side by side."""
_NARROW = 100
"""Columns below which a list of runs has no room for the hour."""
SIMULATED = "simulated: the numbers say nothing about real models"

_SCORES = ("score % [95 %]", "n", "failed")
_COSTS = ("calls", "tokens", "$", "p50", "p95", "paid now")
VERDICT_STYLES = {
    "better": "green",
    "worse": "red",
    "not worse": "green",
    "no difference": "",
    "inconclusive": "yellow",
}
NO_VERDICT = "no verdict"
_WHOLE: Mapping[str, str] = {}


def measured(
    document: Document,
    width: int = 80,
    simulated: bool = False,
    message: str = "",
    unusable: Sequence[Unusable] = (),
    partial: Mapping[str, str] = _WHOLE,
    more: Sequence[RenderableType | None] = (),
) -> RenderableType:
    """The table of ``eval`` and ``baseline`` with what belongs below it.

    Args:
        document: The command's JSON document.
        width: Columns of the terminal; narrow ones get costs in a table of their own.
        simulated: Whether anything in it is a simulation.
        message: Why it ended early.
        unusable: Rows without one usable answer.
        partial: Which repeats are there of rows that are not complete; such rows get an asterisk.
        more: Tables below the main one: of each task, of the judge.
    """
    rows: Sequence[Document] = document["results"]
    wide = width >= WIDE
    return sections(
        heading(document["task"], simulated=simulated),
        _results(rows, scores=True, costs=wide, partial=partial),
        None if wide else _results(rows, scores=False, costs=True),
        *more,
        lines([f"* {workflow}: {text}" for workflow, text in partial.items()], "yellow"),
        lines(_footnotes(document, rows, {row.workflow for row in unusable}, priceless=simulated), "dim"),
        lines([row.reason for row in unusable], "yellow"),
        ending(document["ended_by"], message),
        commands([row.command for row in unusable] or next_steps(document)),
    )


def sections(*parts: RenderableType | None) -> RenderableType:
    """Parts with an empty line between them; empty ones left out."""
    shown: list[RenderableType] = []
    for part in parts:
        if part is not None and not (isinstance(part, Text) and not part):
            shown += ["", part] if shown else [part]
    return Group(*shown)


def lines(texts: Sequence[str], style: str = "") -> Text:
    """Texts below each other."""
    return Text("\n".join(clean(text) for text in texts), style)


def bullets(texts: Sequence[str]) -> RenderableType:
    """Texts as a list."""
    grid = Table.grid(padding=(0, 1))
    for text in texts:
        grid.add_row("  •", Text(clean(text)))
    return grid


def commands(steps: Sequence[str]) -> Text:
    """What to type next; never broken over lines, so that it can be copied."""
    shown = [f"{'look next:' if not place else '          '} {step}" for place, step in enumerate(steps)]
    return Text("\n".join(shown), no_wrap=True, overflow="ignore")


def heading(*words: str, simulated: bool = False) -> Text:
    """A title line, labelled where something is simulated."""
    title = Text(" · ".join(clean(word) for word in words if word), style="bold")
    if simulated:
        title.append(f"\n{SIMULATED}", style="not bold yellow")
    return title


def ending(ended_by: str, message: str = "") -> Text:
    """Why a command ended early, or an empty text."""
    return Text(clean(wording.ending(ended_by, message)), style="yellow")


def advice(document: Document) -> RenderableType:
    """What ``baseline`` advises."""
    return Group("", Text("advice", style="bold"), bullets(document["advice"]))


def compared(document: Document, title: str = "") -> RenderableType:
    """A comparison of two rows."""
    verdict: str = document["verdict"] or NO_VERDICT
    line = Text.assemble(
        ("n ", "dim"),
        str(document["n"]),
        ("   difference ", "dim"),
        f"{wording.points(document['difference'])} {wording.points_interval(document['ci95'])}",
        f"   {wording.p_value(document['p_value'])}",
        ("   ", ""),
        (verdict, f"bold {VERDICT_STYLES.get(verdict, '')}".strip()),
    )
    sides = Text(f"{clean(document['a'])}\n  against {clean(document['b'])}")
    parts: list[RenderableType] = [heading(title)] if title else []
    return Group(*parts, sides, line, *_flipped(document.get("flipped") or ()))


def estimated(document: Document, title: str = "") -> RenderableType:
    """What a dry run says."""
    table = plain_table(("", ""), ("at least", "right"), ("at most", "right"))
    for name, unit in (
        ("structures", wording.count),
        ("samples", wording.count),
        ("calls_per_structure", wording.count),
        ("calls", wording.count),
        ("tokens", wording.count),
        ("usd", wording.money),
        ("seconds", wording.seconds),
    ):
        if name in document:
            bounds = document[name]
            low, high = (None, None) if bounds is None else (bounds["low"], bounds["high"])
            unbounded = bounds is not None and high is None
            table.add_row(name.replace("_", " "), unit(low), "no bound" if unbounded else unit(high))
    detectable = document.get("detectable")
    shown = "" if detectable is None else f"the test part can show a difference of {detectable:.1f} points or more"
    return sections(heading("dry run: nothing is spent", title), table, Text(shown))


def plain_table(*columns: tuple[str, str]) -> Table:
    """A table without a frame.

    Args:
        columns: Title and, after it, ``"right"`` for numbers or ``"whole"`` for what must not be broken.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for title, kind in columns:
        table.add_column(title, justify="right" if kind == "right" else "left", no_wrap=bool(kind), overflow="fold")
    return table


def _results(rows: Sequence[Document], *, scores: bool, costs: bool, partial: Collection[str] = ()) -> RenderableType:
    columns = [("workflow", "")]
    columns += [(title, "right") for title in _SCORES] if scores else []
    columns += [(title, "right") for title in _COSTS] if costs else []
    table = plain_table(*columns)
    best = max((row["score"] for row in rows if row["score"] is not None), default=None)
    for row in rows:
        style = "bold" if scores and len(rows) > 1 and row["score"] == best else ""
        cells: list[str | Name] = [Name.of(row["workflow"])]
        cells += _score_cells(row, row["workflow"] in partial) if scores else []
        cells += _cost_cells(row) if costs else []
        table.add_row(*cells, style=style)
    return table if scores else Group(Text("fresh, per question", "dim"), table)


def _score_cells(row: Document, partial: bool) -> list[str]:
    asked, scored = row["n"], row["scored"]
    shown = (str(asked) if asked == scored else f"{scored} of {asked}") + ("*" if partial else "")
    failed = sum(row["failed"].values())
    return [wording.score(row["score"], row["ci95"]), shown, str(failed) if failed else wording.NOTHING]


def _cost_cells(row: Document) -> list[str]:
    fresh, seconds = row["per_sample"], row["seconds"]
    nothing = fresh["calls"] is None
    return [
        wording.count(fresh["calls"]),
        wording.tokens(fresh["tokens"]),
        wording.NOTHING if nothing else wording.money(fresh["usd"]),
        wording.seconds(seconds["p50"]),
        wording.seconds(seconds["p95"]),
        paid(row),
    ]


def paid(row: Document) -> str:
    """What this run paid for a row: dollars where every call has a price, else calls and tokens."""
    calls: int = row["calls"]["paid"]
    if not calls:
        return "all cached" if row["calls"]["logical"] else wording.NOTHING
    if row["usd"] is not None:
        return wording.money(row["usd"])
    return f"{wording.plural(calls, 'call')}"


def _footnotes(document: Document, rows: Sequence[Document], told: Collection[str], *, priceless: bool) -> list[str]:
    notes: list[str] = [
        f"failed in {row['workflow']}: {wording.failures(row['failed'])}"
        for row in rows
        if sum(row["failed"].values()) and row["workflow"] not in told
    ]
    noise = document.get("noise")
    if noise is not None:
        notes.append(
            f"noise floor: two fresh runs of one workflow differ by up to {noise['points']:.1f} points"
            f" ({noise['repeats']} repeats)"
        )
    reserved = sum(row.get("estimated_calls", 0) for row in rows)
    if reserved:
        notes.append(f"{wording.plural(reserved, 'call')} cut off or without usage, counted at what was reserved")
    if not priceless and any(row["usd"] is None and row["calls"]["logical"] for row in rows):
        notes.append("unpriced: set price = { input = …, output = … } for the model in treadle.toml to see dollars")
    return notes


def _flipped(ids: Sequence[str], shown: int = 12) -> list[Text]:
    if not ids:
        return []
    names = ", ".join(clean(id) for id in ids[:shown])
    more = f", … ({len(ids) - shown} more)" if len(ids) > shown else ""
    return [Text(f"flipped: {wording.plural(len(ids), 'question')}: {names}{more}", style="dim")]


def runs(document: Sequence[Document]) -> RenderableType:
    """The list of runs."""
    if not document:
        return Text("no runs yet; `treadle baseline --task T --model M` makes the first")
    return _Runs(document)


class _Runs:
    """A line a run: where there is little room the day alone, and of a task the beginning of its name."""

    def __init__(self, document: Sequence[Document]) -> None:
        self._document = document

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        narrow = options.max_width < _NARROW
        table = plain_table(
            ("run", "whole"),
            ("command", "whole"),
            ("task", ""),
            ("ended by", "whole"),
            ("started", "whole"),
            ("paid", "right"),
        )
        if narrow:
            table.columns[2].overflow = "ellipsis"
        for run in self._document:
            ended = run["ended_by"] or "running"
            started = datetime.fromisoformat(run["started"]).astimezone().strftime("%d %b" if narrow else "%d %b %H:%M")
            state = Text(ended, "" if ended == "done" else "yellow")
            table.add_row(run["run"], run["command"], clean(run["task"]), state, started, wording.money(run["usd"]))
        yield table


def checks(found: Sequence[Document], *, ok: bool) -> RenderableType:
    """What ``doctor`` found."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for check in found:
        mark = Text("ok", "green") if check["ok"] else Text("–", "dim") if check["optional"] else Text("no", "bold red")
        table.add_row(mark, check["name"], Text(clean(check["detail"]), "" if check["ok"] else "default"))
    verdict = Text("all that is configured works", "green") if ok else Text("something has to be mended", "bold red")
    return Group(table, "", verdict)


def models(document: Sequence[Document]) -> RenderableType:
    """The list of models: the aliases, and below them what can be fetched."""
    table = plain_table(("alias", "whole"), ("model", ""), ("$ per million in / out", ""), ("state", ""))
    for model in document:
        if "about" not in model:
            price = model["price"]
            shown = wording.UNPRICED if price is None else f"{price['input']:g} / {price['output']:g}"
            table.add_row(clean(model["alias"]), clean(model["model"]), shown, Text(clean(model["state"])))
    local = plain_table(("local", "whole"), ("state", ""), ("about", ""))
    for model in document:
        if "about" in model:
            local.add_row(model["alias"], model["state"], Text(clean(model["about"]), "dim"))
    return sections(table if table.row_count else Text("no alias is configured; `treadle init` shows how"), local)
