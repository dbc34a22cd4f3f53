"""An ablation's document as tables for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from treadle.cli import wording
from treadle.cli.output import clean
from treadle.cli.tables import NO_VERDICT, commands, ending, estimated, heading, lines, plain_table, sections
from treadle.evaluation.ablation import cost_unit

Document = Mapping[str, Any]
_OPTIMISTIC = "the lean one was chosen on these samples, so its score is optimistic; the last command looks afresh"
_NOT_LEANER = (
    "nothing leaner is shown to be as good: what is dead saves nothing when it goes, or is not dead all together"
)
_SO = {
    "better": ("harmful", "red"),
    "no difference": ("dead weight", "yellow"),
    "not worse": ("dead weight", "yellow"),
    "worse": ("needed", "green"),
    "inconclusive": ("inconclusive", "dim"),
}
"""What a part is, by the verdict on what is left without it."""


def ablated(
    document: Document, next_steps: Sequence[str], *, simulated: bool = False, message: str = ""
) -> RenderableType:
    """What each part brings, what is dead, and what is left without it.

    Args:
        document: The command's JSON document.
        next_steps: Commands to type next.
        simulated: Whether anything in it is a simulation.
        message: Why it ended early.
    """
    return sections(
        heading(document["task"], f"parts of {document['workflow']}", simulated=simulated),
        _whole(document),
        _parts(document),
        lines(_notes(document), "dim"),
        _lean(document),
        ending(document["ended_by"], message),
        commands(next_steps),
    )


def estimated_ablation(document: Document, title: str, margin: float) -> RenderableType:
    """What a dry run says, and whether it could call anything dead.

    Args:
        document: The estimate.
        title: The task's name.
        margin: Points that do not matter.
    """
    notes: list[str] = []
    if document["shared_calls"] is not None:
        paid = wording.plural(document["shared_calls"], "call")
        notes.append(f"about {paid} where replies can be used: what the structures have in common is paid once")
    if document["least_margin"] >= margin:
        notes.append(_too_few(int(document["samples"]["high"]), document["least_margin"]))
    return sections(estimated(document, title), lines(notes))


def _whole(document: Document) -> Text:
    whole, fresh, asked = document["whole"], document["whole"]["per_sample"], document["n"]
    scored = str(asked) if whole["scored"] == asked else f"{whole['scored']} of {asked}"
    text = Text("whole: ", style="bold")
    text.append(f"{wording.score(whole['score'], whole['ci95'])} %, n {scored}", style="not bold")
    if fresh["calls"] is not None:
        costs = [f"{wording.count(fresh['calls'])} calls", f"{wording.tokens(fresh['tokens'])} tokens"]
        costs += [] if fresh["usd"] is None else [wording.money(fresh["usd"])]
        text.append(f"   {', '.join(costs)} a question", style="not bold dim")
    return text


def _parts(document: Document) -> RenderableType:
    table = plain_table(("part", ""), ("brings, points [95 %]", "right"), ("p", "right"), ("saves", "right"), ("", ""))
    fresh = document["whole"]["per_sample"]
    for row in document["parts"]:
        word, style = _SO.get(row["without"], (NO_VERDICT if row["difference"] is not None else "not measured", "dim"))
        brings = f"{wording.points(row['difference'])} {wording.points_interval(row['ci95'])}".strip()
        p = wording.p_value(row["p_value"]).replace("p = ", "").replace("p < ", "<") or wording.NOTHING
        table.add_row(clean(row["part"]), brings, p, _share(row["saves"], fresh), Text(word, style))
    return table


def _share(saves: Document, whole: Document) -> str:
    """What is saved, as a share of what a question costs whole."""
    unit = cost_unit(whole)
    if saves[unit] is None or not whole[unit]:
        return wording.NOTHING
    return f"{round(100 * saves[unit] / whole[unit])} %"


def _notes(document: Document) -> list[str]:
    parts = document["parts"]
    notes: list[str] = []
    if any(row["difference"] is not None for row in parts):
        unit = {"usd": "dollars"}.get(name := cost_unit(document["whole"]["per_sample"]), name)
        of = f"p and intervals hold for all {len(parts)} parts together" if len(parts) > 1 else "one part, one test"
        notes.append(f"{of}; saves: share of the {unit} of one question")
    if any(row["without"] == "inconclusive" for row in parts):
        note = "inconclusive is not dead"
        least: float | None = document["least_margin"]
        if least is not None and least >= document["margin"]:
            note += f": {_too_few(document['n'], least)}"
        notes.append(note)
    return notes


def _too_few(questions: int, least: float) -> str:
    shown = math.ceil(10 * least + 1e-9) / 10
    return (
        f"with {wording.plural(questions, 'question')} a part without any effect leaves ±{shown:.1f} points open;"
        f" more questions, or --margin {shown:.1f} and more, can call it dead"
    )


def _lean(document: Document) -> RenderableType | None:
    lean = document["lean"]
    if lean is None:
        dead = document["ended_by"] == "done" and any(row["dead"] for row in document["parts"])
        return Text(_NOT_LEANER, "yellow") if dead else None
    found, fresh = lean["against_whole"], document["whole"]["per_sample"]
    title = Text("lean: ", style="bold")
    title.append(clean(lean["workflow"]), style="bold green")
    title.append(f"  {wording.score(lean['score'], lean['ci95'])} %", style="not bold")
    numbers = f"{wording.points(found['difference'])} points {wording.points_interval(found['ci95'])}"
    against = Text(f"against the whole: {numbers}  ")
    against.append(found["verdict"], style="bold green")
    saves = lean["saves"]
    amounts = [f"{wording.count(saves['calls'])} calls", f"{wording.tokens(saves['tokens'])} tokens"]
    amounts += [] if saves["usd"] is None else [wording.money(saves["usd"])]
    saved = Text(f"saves {_share(saves, fresh)}: {', '.join(amounts)} a question")
    return Group(title, against, saved, Text(_OPTIMISTIC, "yellow"))
