"""A search's document as tables for people."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from treadle.cli import wording
from treadle.cli.output import clean
from treadle.cli.tables import NO_VERDICT, VERDICT_STYLES, commands, ending, heading, plain_table, sections
from treadle.cli.task_tables import per_task

Document = Mapping[str, Any]
_SHOWN = 12


def searched(document: Document, task: str, *, simulated: bool = False, message: str = "") -> RenderableType:
    """What a search found, what it was tested against, and what finding it cost.

    Args:
        document: The command's JSON document.
        task: The task's name.
        simulated: Whether anything in it is a simulation.
        message: Why it ended early.
    """
    space = document["space"]
    found = f"{document['evaluated']} of {wording.count(space['valid'])} structures evaluated, {document['method']}"
    return sections(
        heading(task, found, simulated=simulated),
        _ranking(document["ranking"]),
        _history(document["history"]),
        _selection(document["finalists"], document["baselines"]),
        per_task([document["best"]] if document["best"] else []),
        Group(_best(document), *_test(document["test"]), *_cost(document)),
        ending(document["ended_by"], message),
        commands(_next_steps(document)),
    )


def _ranking(ranking: Sequence[Document] | None) -> RenderableType | None:
    if not ranking:
        return None
    models = ", ".join(f"{clean(row['model'])} {wording.percent(row['score'])}" for row in ranking)
    return Text(f"models by their own score: {models}", style="dim")


def _history(trials: Sequence[Document]) -> RenderableType:
    table = plain_table(
        ("searched", ""), ("score %", "right"), ("calls", "right"), ("tokens", "right"), ("$", "right"), ("", "")
    )
    most = max((trial["samples"] for trial in trials), default=0)
    ordered = sorted(trials, key=lambda trial: (-trial["samples"], -(trial["score"] or 0.0)))
    for trial in ordered[:_SHOWN]:
        stopped, met = trial["stopped_at"], trial["samples"]
        whole = met == most and stopped is None
        score = wording.percent(trial["score"]) if whole else wording.NOTHING
        note = "" if whole else f"{'stopped' if stopped is not None else 'cut off'} at {met} questions"
        table.add_row(wording.structure(clean(trial["workflow"])), score, *_costs(trial), note)
    if len(ordered) > _SHOWN:
        table.add_row(f"… {len(ordered) - _SHOWN} more: --json has all", style="dim")
    return table


def _selection(finalists: Sequence[Document], baselines: Sequence[Document]) -> RenderableType | None:
    if not finalists and not baselines:
        return None
    table = plain_table(
        ("chosen from", ""),
        ("score %, selection", "right"),
        ("calls", "right"),
        ("tokens", "right"),
        ("$", "right"),
        ("", ""),
    )
    for row in finalists:
        name = wording.structure(clean(row["workflow"]))
        table.add_row(name, wording.score(row["score"], row["ci95"]), *_costs(row), "")
    for row in baselines:
        table.add_row(clean(row["workflow"]), wording.score(row["score"], row["ci95"]), *_costs(row), "baseline")
    return table


def _costs(row: Document) -> list[str]:
    fresh = row["per_sample"]
    if fresh["calls"] is None:
        return [wording.NOTHING] * 3
    return [wording.count(fresh["calls"]), wording.tokens(fresh["tokens"]), wording.money(fresh["usd"])]


def _best(document: Document) -> Text:
    best = document["best"]
    if best is None:
        return Text("nothing was found: no structure came through the search", style="bold yellow")
    text = Text("best: ", style="bold")
    text.append(wording.structure(clean(best["workflow"])), style="bold green")
    if best["score"] is not None:
        text.append(f"  test score {wording.score(best['score'], best['ci95'])} %", style="not bold")
    return text


def _test(test: Document) -> list[Text]:
    lines: list[Text] = []
    for row in test["comparisons"]:
        if row["against"] == "itself":
            lines.append(Text("it is a baseline itself: the search found nothing that beats it; the test stays closed"))
            continue
        verdict: str = row["verdict"] or NO_VERDICT
        numbers = f"{wording.points(row['difference'])} points {wording.points_interval(row['ci95'])}"
        line = Text(
            f"against {clean(row['workflow'])} ({row['against']}): {numbers}  {wording.p_value(row['p_value'])}  "
        )
        line.append(verdict, style=f"bold {VERDICT_STYLES.get(verdict, '')}".strip())
        lines.append(line)
    if test["opened"] > 1:
        lines.append(Text(f"the test part was opened for the {_ordinal(test['opened'])} time: p is multiplied by it"))
    if test["detectable"] is not None:
        note = f"{test['n']} test questions can show a difference of {test['detectable']:.1f} points"
        lines.append(Text(note, style="dim"))
    return lines


def _cost(document: Document) -> list[Text]:
    lines = [*_advice(document), _spent(document["spent"])]
    objective = document["objective"]
    if objective["lambda"]:
        counted = f"objective: score − {objective['lambda']:g} · {objective['cost_unit']} a question"
        lines.append(Text(counted, style="dim"))
    found = document["payback"]
    if found is not None:
        saved = wording.money(found["saved"]) if found["unit"] == "usd" else f"{found['saved']:,.1f} {found['unit']}"
        lines.append(
            Text(
                f"it saves {saved} a question against {clean(found['against'])}:"
                f" the search has paid for itself after {wording.plural(found['questions'], 'question')}"
            )
        )
    elif document["best"] is not None and any(
        row.get("verdict") == "better" for row in document["test"]["comparisons"]
    ):
        lines.append(Text("it costs no less than what it beats: the search is paid for in points, not in cost"))
    if document["regret"] is not None:
        lines.append(Text(f"regret: {document['regret']:.1f} points below the space's true best (simulated)"))
    return lines


def _advice(document: Document) -> list[Text]:
    """What to do where nothing that was found is better than a baseline."""
    rows = [row for row in document["test"]["comparisons"] if row["against"] != "itself"]
    if not rows or any(row["verdict"] == "better" for row in rows):
        return []
    return [Text(f"no structure was shown to be better than {clean(rows[-1]['workflow'])}: use that", style="yellow")]


def _spent(spent: Document) -> Text:
    paid = wording.plural(spent["calls_paid"], "call")
    words = [] if spent["usd"] is None else [wording.money(spent["usd"])]
    answered: int = spent["calls_logical"]
    if spent["calls_paid"] > answered:
        words.append(f"{paid} paid, {answered:,} answered (the rest was cut off, counted at its bound)")
    else:
        words.append(f"{paid} paid of {answered:,}")
    words += [f"{wording.count(spent['tokens'])} tokens", wording.seconds(spent["seconds"])]
    return Text(f"spent: {', '.join(words)}", style="dim")


def _next_steps(document: Document) -> list[str]:
    best = document["best"]
    row = "" if best is None else f"/{clean(best['workflow'])}"
    steps = [f"treadle trace {shlex.quote(document['run'] + row)} --failed"]
    if document["ended_by"] in ("budget", "interrupt"):
        budget = " --budget-…" if document["ended_by"] == "budget" else ""
        steps.insert(0, f"treadle search --resume {document['run']}{budget}")
    return steps


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
