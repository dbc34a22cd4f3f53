"""What ``treadle fix`` prints: plan, rounds, patch, test and tokens."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from treadle.cli import wording
from treadle.cli.fix_progress import title
from treadle.cli.output import clean
from treadle.cli.tables import commands, heading, lines, plain_table, sections

Document = Mapping[str, Any]
_STYLES = {"APPROVE": "green", "REVISE": "yellow", "patched": "", "unchanged": "yellow", "empty": "yellow"}
_DIFF = (("+++", "bold"), ("---", "bold"), ("diff ", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))
_ENDINGS = {
    "infra": "a model or this machine failed; what was paid for is kept, the same command goes on from here",
    "budget": "a budget ended it; what was paid for is kept",
    "interrupt": "interrupted; what was paid for is kept, the same command goes on from here",
}
_UNTAKEN = {
    "patched": "there is a patch",
    "empty": "no file was changed",
    "budget": "a limit ended it before there was a patch",
    "failed": "there is no patch",
}
_SHOWN_LINES = 400
_OUTPUT_LINES = 15


def fixed(document: Document, repository: Path, *, doubt: str = "", simulated: bool = False) -> RenderableType:
    """The screen of a finished fix.

    Args:
        document: The command's JSON document.
        repository: The user's.
        doubt: Why the patch should not be taken unseen.
        simulated: Whether a model is simulated.
    """
    who = " · ".join(f"{role} {model}" for role, model in document["models"].items())
    return sections(
        heading("fix", document["mode"], who, simulated=simulated),
        lines(document["remarks"], "dim"),
        _plan(document["plan"]),
        _rounds(document),
        diff(document["patch"]) if document["patch"] else None,
        _left_out(document),
        _test(document),
        _tokens(document),
        _status(document),
        Text(clean(_ending(document)), "yellow"),
        commands(_steps(document, repository, doubt)),
    )


def why(document: Document) -> str:
    """Why the command ends with another exit code than 0, in a line."""
    said = (_ending(document) or _UNTAKEN[document["status"]], _held(document))
    return " ".join("; ".join(part for part in said if part).split())


def diff(patch: str) -> Text:
    """A patch with its colours; of a very long one the beginning."""
    shown = clean(patch).rstrip("\n").split("\n")
    text = Text(no_wrap=False)
    for place, line in enumerate(shown[:_SHOWN_LINES]):
        style = next((style for beginning, style in _DIFF if line.startswith(beginning)), "")
        text.append(("\n" if place else "") + line, style)
    if len(shown) > _SHOWN_LINES:
        text.append(f"\n… {len(shown) - _SHOWN_LINES} lines more: the whole patch is in the file", "dim")
    return text


def _plan(plan: str) -> RenderableType | None:
    if not plan:
        return None
    return Group(Text("plan", "bold"), Padding(Text(clean(plan)), (0, 0, 0, 2)))


def _rounds(document: Document) -> RenderableType:
    table = plain_table(
        ("phase", ""), ("outcome", ""), ("calls", "right"), ("tokens", "right"), ("$", "right"), ("seconds", "right")
    )
    for row in document["rounds"]:
        spent = row["spent"].values()
        said = row["verdict"] or row["patch"] or ("ended early" if row["remark"] else "done")
        usd = None if any(each["usd"] is None for each in spent) else sum(each["usd"] for each in spent)
        table.add_row(
            title(row["phase"], row["round"], row["mode"] or ""),
            Text(said, _STYLES.get(said, "")),
            wording.count(sum(each["calls"] for each in spent)),
            wording.tokens(sum(each["input"] + each["output"] for each in spent)),
            wording.money(usd),
            wording.seconds(sum(each["seconds"] for each in spent)),
        )
    return table


def _left_out(document: Document) -> Text:
    left = [f"left out: {each['path']} ({each['reason']})" for each in document["left_out"]]
    more = [f"… {len(left) - 10} more"] if len(left) > 10 else []
    return lines([*left[:10], *more], "yellow")


def _test(document: Document) -> RenderableType | None:
    test = document["test"]
    if test is None:
        return None
    if test["passed"]:
        return Text(
            f"the test command passes on a clean copy with this patch ({wording.seconds(test['seconds'])})", "green"
        )
    tail = clean(test["output"]).rstrip().split("\n")[-_OUTPUT_LINES:]
    return Group(
        Text(f"the test command does not pass: {clean(test['reason'])}", "red"),
        Padding(Text("\n".join(tail), "dim"), (0, 0, 0, 2)),
    )


def _tokens(document: Document) -> RenderableType:
    table = plain_table(
        ("role", ""), ("model", ""), ("calls", "right"), ("tokens", "right"), ("share", "right"), ("$", "right")
    )
    fresh = document["fresh"]
    total = sum(each["input"] + each["output"] for each in fresh.values())
    for role, spent in fresh.items():
        if not spent["calls"]:
            continue
        tokens = spent["input"] + spent["output"]
        table.add_row(
            role,
            clean(document["models"].get(role, "")),
            wording.count(spent["calls"]),
            wording.tokens(tokens),
            f"{100 * tokens / total:.0f} %" if total else "",
            wording.money(spent["usd"]),
        )
    paid = f"paid now: {wording.money(document['usd'])} · {wording.seconds(document['seconds'])}"
    return Group(table, Text(paid, "dim"), *_headline(document))


def _headline(document: Document) -> list[Text]:
    strong = document["strong_tokens"]
    if strong is None or strong["share"] is None or not strong["here"]:
        return []
    words = {True: "resolved", False: "not resolved"}
    here = f" ({words[document['resolved']]})" if document["resolved"] is not None else ""
    alone = f", {words[strong['resolved']]}" if strong["resolved"] is not None else ""
    return [
        Text(
            f"{wording.tokens(strong['here'])} tokens of the strong model{here}: {100 * strong['share']:.0f} % of the "
            f"{wording.tokens(strong['alone'])} that it took alone (run {strong['run']}{alone})"
        )
    ]


def _status(document: Document) -> RenderableType:
    if document["status"] != "patched":
        return Text(_UNTAKEN[document["status"]], "yellow")
    approved = "approved by the manager" if document["approved"] else "not approved by a manager"
    done = [f"patch ({approved}): {document['patch_file']}"]
    if document.get("applied"):
        done.append(f"applied to {document['applied']}")
    if document.get("branch"):
        done.append(f"committed on the new branch {document['branch']}")
    held = [Text(clean(_held(document)), "yellow")] if document.get("not_delivered") else []
    return Group(lines(done), *held)


def _held(document: Document) -> str:
    return f"not delivered: {document['not_delivered']}" if document.get("not_delivered") else ""


def _ending(document: Document) -> str:
    """Why it ended, where it was no end of its own."""
    return " – ".join(part for part in (_ENDINGS.get(document["ended_by"], ""), document["message"]) if part)


def _steps(document: Document, repository: Path, doubt: str) -> list[str]:
    if document.get("applied") or document.get("branch"):
        return []
    trace = f"treadle trace {document['run']}"
    if doubt or document["patch_file"] is None:
        return [trace]
    file = Path(document["patch_file"]).absolute()
    return [shlex.join(("git", "-C", str(repository), "apply", str(file))), trace]
