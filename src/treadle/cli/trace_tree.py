"""Traces as trees for people: operators, calls with what they cost, and on demand what was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from treadle.cli import wording
from treadle.cli.output import clean
from treadle.cli.tables import ending, heading

Document = Mapping[str, Any]
_STATUS = {"ok": "", "right": "green", "wrong": "red"}
_ANSWER = 160
_TESTS = "tests of a program"
"""How a run of tests begins that `treadle.sandbox.code_tests` makes."""


def answered(document: Document, message: str = "", *, simulated: bool = False) -> RenderableType:
    """The answer of ``run``, what was called for it, and what it cost.

    Args:
        document: The command's JSON document.
        message: Why there is none.
        simulated: Whether a model is simulated.
    """
    parts: list[RenderableType] = [heading("answer", simulated=True), ""] if simulated else []
    if document["answer"].strip():
        parts += [Text(clean(document["answer"])), ""]
    if document["status"] != "ok" and document["ended_by"] in ("done", "infra"):
        parts.append(Text(f"{document['status']}: {clean(message)}", style="yellow"))
    else:
        parts.append(ending(document["ended_by"], message))
    tree = Tree(Text(document["run"], style="dim"), guide_style="dim")
    grow(tree, document["trace"])
    tokens, calls = document["tokens"], document["calls"]
    cost = [
        f"{wording.plural(calls['logical'], 'call')} ({calls['cached']} cached)",
        f"{wording.count(tokens['input'] + tokens['output'])} tokens",
        wording.money(document["usd"]),
        wording.seconds(document["seconds"]),
    ]
    return Group(*(part for part in [*parts, tree, Text(" · ".join(cost), style="dim")] if part != Text("")))


def traced(document: Document, samples: Sequence[Document], *, full: bool = False) -> RenderableType:
    """The trace of a run.

    Args:
        document: The command's JSON document.
        samples: Those of its samples that are to be shown.
        full: Whether all that a worker did and saw is shown too.
    """
    rows = list(dict.fromkeys(sample["workflow"] for sample in document["samples"]))
    parts: list[RenderableType] = []
    for row in rows:
        mine = [sample for sample in samples if sample["workflow"] == row]
        if mine:
            tree = Tree(Text(f"{document['run']}/{clean(row)}", style="bold"), guide_style="dim")
            for sample in mine:
                _plant(tree, sample, full)
            parts.append(tree)
    if not document["samples"]:
        parts.append(Text("no sample to show"))
    hidden = len(document["samples"]) - len(samples)
    if hidden > 0:
        parts.append(
            Text(f"… {wording.plural(hidden, 'sample')} more: --limit, --sample ID, --failed or --json", "dim")
        )
    return Group(*parts)


def grow(tree: Tree, entries: Sequence[Document], full: bool = False) -> None:
    """Add trace entries below a branch."""
    for entry in entries:
        if "operator" in entry:
            grow(tree.add(Text(clean(entry["operator"]), style="cyan")), entry["children"], full)
        elif "call" in entry:
            _speak(tree.add(_call(entry)), entry)
        elif "execution" in entry:
            tree.add(_execution(entry))
        else:
            _look(tree.add(_note(entry)), entry if full else {})


def _plant(tree: Tree, sample: Document, full: bool) -> None:
    branch = tree.add(_sample_line(sample))
    other = sample.get("against")
    if other is not None:
        line = Text("there: ", style="dim")
        branch.add(line.append_text(_outcome(other)))
    grow(branch, sample["trace"], full)


def _sample_line(sample: Document) -> Text:
    line = Text(clean(sample["id"]), style="bold")
    if sample["repeat"]:
        line.append(f" repeat {sample['repeat']}", style="not bold dim")
    line.append("  ")
    return line.append_text(_outcome(sample))


def _outcome(sample: Document) -> Text:
    score, status = sample["score"], sample["status"]
    if status == "ok" and score is not None:
        word = "right" if score >= 1 else "wrong" if score <= 0 else f"score {score:.2f}"
    else:
        word = status
    line = Text(word, style=f"not bold {_STATUS.get(word, 'yellow')}".strip())
    answer = " ".join(clean(sample["answer"]).split())
    if answer:
        shown = answer if len(answer) <= _ANSWER else f"{answer[: _ANSWER - 1]}…"
        line.append(f"  {shown}", style="not bold default")
    return line


def _call(entry: Document) -> Text:
    tokens = entry["tokens"]
    role = f"{entry['role']} " if entry["role"] else ""
    line = Text(f"{role}{clean(entry['call'])} ")
    line.append(f"draw {entry['draw']}", style="dim")
    if tokens["input"] is not None:
        line.append(f"  {wording.count(tokens['input'])} → {wording.count(tokens['output'])} tokens")
    if entry["usd"] is not None:
        line.append(f"  {wording.money(entry['usd'])}")
    line.append(f"  {wording.seconds(entry['seconds'])}")
    if entry["cached"]:
        line.append("  cached", style="dim")
    if entry["finish"] not in ("stop", "error"):
        line.append(f"  {entry['finish']}", style="yellow")
    if entry.get("error"):
        line.append(f"  {clean(entry['error'])}", style="red")
    return line


def _execution(entry: Document) -> Text:
    work: str = clean(entry["work"])
    tests = work.lstrip("# ").startswith(_TESTS)
    line = Text(f"{clean(entry['execution'])} ").append(work.lstrip("# ") if tests else work, style="dim")
    line.append(f"  {wording.seconds(entry['seconds'])}")
    if entry["cached"]:
        line.append("  cached", style="dim")
    # Tests that ran to their end may all have failed: what they came to is no matter of the sandbox.
    ended = "ran" if tests and entry["status"] == "ok" else entry["status"]
    line.append(f"  {ended}", style="" if entry["status"] == "ok" else "yellow")
    if entry["status"] == "failed" and entry.get("exit_code") is not None:
        line.append(f" (exit code {entry['exit_code']})", style="yellow")
    if entry.get("signal") is not None:
        line.append(f" (signal {entry['signal']})", style="yellow")
    if entry.get("reason"):
        line.append(f"  {clean(entry['reason'])}", style="yellow")
    return line


def _note(entry: Document) -> Text:
    if entry["note"] == "step":
        return _step(entry)
    if entry["note"] == "phase":
        return _phase(entry)
    details = ", ".join(f"{clean(str(k))}: {clean(str(v))}" for k, v in entry.items() if k != "note" and v != "")
    return Text(f"note {clean(str(entry['note']))}", style="yellow").append(f"  {details}", style="default")


def _phase(entry: Document) -> Text:
    """The end of a phase of ManagerWorker: what it came to, and what each role cost."""
    said = " ".join(str(entry[part]) for part in ("mode", "verdict", "patch") if entry.get(part))
    line = Text("ended ", style="cyan").append(clean(said) or "done", style="default")
    for role, spent in entry["spent"].items():
        tokens = wording.tokens(spent["input"] + spent["output"])
        line.append(f"  {clean(role)} {wording.plural(spent['calls'], 'call')}, {tokens} tokens", style="dim")
    return line.append(f"  {clean(entry['remark'])}" if entry.get("remark") else "", style="yellow")


def _step(entry: Document) -> Text:
    """A step of a worker: what it did, and in one line what it saw."""
    action = " ".join(clean(str(entry.get("action") or "no action")).split())
    seen = next((line for line in clean(str(entry.get("observation", ""))).splitlines() if line.strip()), "")
    line = Text(f"step {entry.get('step')} ", style="cyan")
    line.append(action if len(action) <= _ANSWER else f"{action[: _ANSWER - 1]}…", style="default")
    style = "dim" if entry.get("status") in ("ok", None) else "yellow"
    return line.append(f"  {seen[:_ANSWER]}", style=style)


def _look(branch: Tree, entry: Document) -> None:
    """All that a step did and saw."""
    for part in ("action", "observation"):
        if entry.get(part):
            branch.add(_turn(part, entry[part]))


def _speak(branch: Tree, entry: Document) -> None:
    for turn in entry.get("messages") or ():
        branch.add(_turn(turn["role"], turn["content"]))
    if entry.get("reply") is not None:
        branch.add(_turn("reply", entry["reply"]))


def _turn(who: str, text: str) -> Text:
    return Text(f"{who}: ", style="magenta").append(clean(text), style="default")
