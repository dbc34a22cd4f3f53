"""Programs as people see them: in traces, in estimates, in the help; and names on narrow screens."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType
from rich.progress import Progress

from treadle.cli import tables, trace_tree
from treadle.cli.next_steps import next_steps
from treadle.cli.progress import time_left
from treadle.config import SANDBOX_KINDS
from treadle.errors import SandboxError
from treadle.sandbox import bundle

Command = Callable[..., tuple[int, str, str]]
SUMS = ("--task", "jsonl:sums.jsonl", "--model", "adder")
OWN = """\
import treadle

@treadle.workflow
async def mine(problem, run):
    return (await run.ask(problem)).text
"""


def shown(part: RenderableType, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, markup=False, highlight=False, emoji=False).print(part)
    return out.getvalue()


def traced(*entries: dict[str, Any]) -> str:
    sample = {"id": "q", "workflow": "w", "repeat": 0, "score": 0.0, "status": "ok", "answer": "", "trace": entries}
    return shown(trace_tree.traced({"run": "r", "samples": [sample]}, [sample]), 120)


def execution(work: str, status: str) -> dict[str, Any]:
    return {"execution": "bubblewrap", "work": work, "seconds": 0.05, "cached": False, "status": status}


def test_tests_that_ran_are_not_called_ok_whatever_they_came_to() -> None:
    work = bundle.LOADER.splitlines()[0]
    assert "bubblewrap tests of a program  50 ms  ran" in traced(execution(work, "ok"))
    assert "bubblewrap tests of a program  50 ms  timed_out" in traced(execution(work, "timed_out"))
    assert "bubblewrap print(1)  50 ms  ok" in traced(execution("print(1)", "ok"))


def test_a_note_shows_nothing_of_what_is_empty() -> None:
    text = traced({"note": "tested", "passed": 0, "of": 2, "reason": ""})
    assert "note tested  passed: 0, of: 2\n" in re.sub(" +\n", "\n", text)


@pytest.mark.parametrize("width", [80, 90, 140])
def test_a_list_of_runs_never_breaks_a_run_id(width: int) -> None:
    run = {
        "run": "261201-000729-d194",
        "command": "baseline",
        "task": "jsonl:questions/of/a/long/name.jsonl?scorer=grading:same_letters",
        "ended_by": "interrupt",
        "started": "2026-12-01T00:07:29+00:00",
        "usd": None,
    }
    lines = [line for line in shown(tables.runs([run, run]), width).splitlines() if line.strip()]
    assert len(lines) == 4 or width > 100
    assert sum(line.startswith("261201-000729-d194 ") for line in lines) == 2
    assert all("baseline" in line and "interrupt" in line and "unpriced" in line for line in lines[2:3])
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("name", ["self-consistency?n=5", "debate?agents=3&rounds=2", "program-of-thought?tries=2"])
def test_a_workflow_s_name_is_broken_after_punctuation(name: str) -> None:
    row = {
        "workflow": name,
        "n": 2,
        "scored": 2,
        "failed": {"crash": 0},
        "score": 0.5,
        "ci95": [0.1, 0.9],
        "calls": {"logical": 2, "paid": 2, "cached": 0, "retried": 0},
        "usd": None,
        "per_sample": {"calls": 1.0, "usd": None, "seconds": 1.0, "tokens": 12345.0},
        "seconds": {"p50": 1.2, "p95": 3.4, "total": 3.0},
    }
    report = {"run": "r", "task": "t", "ended_by": "done", "results": [row]}
    text = shown(tables.measured(report, 72), 72)
    assert "\nfresh, per question\n" in re.sub(" +\n", "\n", text)
    costs = text.partition("fresh, per question")[2].partition("unpriced: set")[0].splitlines()[3:]
    broken = [line.split("  ")[0].strip() for line in costs if line.strip()]
    assert "".join(broken) == name
    assert all(not piece[-1].isalnum() for piece in broken[:-1])


def test_what_was_not_measured_is_not_to_be_compared() -> None:
    def row(name: str, scored: int, crashes: int = 0) -> dict[str, Any]:
        score = 0.5 if scored else None
        calls = {"logical": 4, "paid": 4, "cached": 0, "retried": 0}
        return {"workflow": name, "scored": scored, "failed": {"crash": crashes}, "score": score, "calls": calls}

    def steps(*rows: dict[str, Any]) -> list[str]:
        return next_steps({"run": "r", "results": rows})

    assert steps(row("single", 0), row("cot", 0)) == []
    assert steps(row("single", 0), row("cot", 3)) == ["treadle trace r/cot --failed"]
    assert steps(row("single", 2), row("cot", 3), row("vote", 0)) == [
        "treadle trace r/single --failed",
        "treadle compare r/cot r/single",
    ]


def test_time_left_is_told_with_its_number_or_not_at_all() -> None:
    column = time_left()
    clock = iter(range(1000))
    with Progress(column, console=Console(file=io.StringIO()), auto_refresh=False, get_time=lambda: next(clock)) as bar:
        task = bar.add_task("eval", total=None)
        assert shown(column.render(bar.tasks[0])).strip() == ""
        bar.update(task, total=100)
        assert shown(column.render(bar.tasks[0])).strip() == ""
        for _ in range(5):
            bar.advance(task, 10)
        assert re.fullmatch(r"\d\d:\d\d left", shown(column.render(bar.tasks[0])).strip())
    assert timedelta(seconds=bar.tasks[0].time_remaining or 0) > timedelta(0)


def test_the_help_lists_every_kind_of_sandbox(treadle: Command) -> None:
    out = " ".join(treadle("eval", "--help")[1].split())
    assert all(kind in out for kind in SANDBOX_KINDS)
    assert "none: unprotected" in out


@pytest.mark.parametrize("words", [("eval", "own:mine", *SUMS), ("run", "own:mine", "What is 1 + 2?")])
def test_a_dry_run_does_not_vouch_for_own_workflows(treadle: Command, place: Path, words: tuple[str, ...]) -> None:
    (place / "own.py").write_text(OWN)
    code, out, err = treadle(*words, "--dry-run", "--json")
    assert (code, json.loads(out)["runs_code"]) == (0, False)
    assert err == "treadle: own workflows may run programs too (sandbox auto): own:mine\n"


@pytest.mark.parametrize(
    ("workflow", "runs"),
    [("single", False), ("alphacodium", False), ("best-of-n?judge=tests", False), ("program-of-thought", True)],
)
def test_a_question_without_tests_runs_none(treadle: Command, workflow: str, runs: bool) -> None:
    code, out, err = treadle("run", workflow, "What is 1 + 2?", "--dry-run", "--json")
    assert (code, json.loads(out)["runs_code"], bool(err)) == (0, runs, runs)
    measured = json.loads(treadle("eval", workflow, *SUMS, "--dry-run", "--json")[1])
    assert measured["runs_code"] is (workflow != "single")


def test_estimates_count_in_whole_numbers(treadle: Command) -> None:
    words = ("search", "--space", "workflows:single,cot,self-consistency?n=3", *SUMS, "--dry-run", "--json")
    document = json.loads(treadle(*words)[1])
    bounds = [document[name] for name in ("structures", "samples", "calls_per_structure", "calls", "tokens")]
    assert all(type(value) is int for each in bounds for value in each.values())


def test_doctor_gives_every_other_kind_a_line_with_its_remedy(
    treadle: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def open_sandbox(kind: str = "auto") -> Any:
        raise SandboxError(f"{kind}: {'x' * 500} is not here; install it")

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_sandbox)
    from treadle.cli import sandbox_checks

    async def none_proven(kind: str) -> list[Any]:
        return await sandbox_checks.other_kinds("bubblewrap")

    monkeypatch.setattr("treadle.cli.sandbox_checks.sandbox_checks", none_proven)
    checks = {check["name"]: check for check in json.loads(treadle("doctor", "--json")[1])["checks"]}
    for kind in set(SANDBOX_KINDS) - {"auto", "none", "bubblewrap"}:
        check = checks[f"sandbox {kind}"]
        assert (check["ok"], check["optional"]) == (False, True)
        assert check["detail"].endswith("…; install it")
        assert len(check["detail"]) < 200
    assert "sandbox bubblewrap" not in checks
