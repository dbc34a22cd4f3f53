"""Nothing is passed over in silence: options that would do nothing, numbers that are none, reasons of an exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from treadle.cli.app import app
from treadle.cli.main import main

Command = Callable[..., tuple[int, str, str]]
SUMS = ("--task", "jsonl:sums.jsonl", "--model", "adder")
TREADLE: Any = typer.main.get_command(app)
FAILS_ONCE = """\
import re

def reply(request):
    first, second = re.findall(r"\\d+", request.messages[-1].content)[:2]
    if {failing}:
        raise ValueError("out of order")
    return f"The answer is {{int(first) + int(second)}}"
"""


def failing(place: Path, condition: str) -> None:
    (place / "adder.py").write_text(FAILS_ONCE.format(failing=condition))


def only_line(err: str) -> str:
    assert err.startswith("treadle: ")
    assert err.count("\n") == 1
    return err


def flags_of(name: str) -> dict[str, str]:
    """An option of a command, with a value where it takes one."""
    values = {"role": "judge=adder", "task": "jsonl:sums.jsonl"}
    return {
        parameter.opts[0]: "" if getattr(parameter, "is_flag", False) else values.get(parameter.name, "3")
        for parameter in TREADLE.commands[name].params
        if parameter.param_type_name == "option" and parameter.name != "help"
    }


def test_what_finished_runs_do_not_take_is_refused(treadle: Command) -> None:
    run = json.loads(treadle("eval", "single", *SUMS, "--json")[1])["run"]
    fitting = {"--json": "", "--config": "treadle.toml", "--margin": "3", "--task": "x"}
    for flag, value in flags_of("compare").items():
        words = ("compare", run, run, flag, *([fitting.get(flag, value)] if value else []))
        if flag in ("--json", "--config", "--margin"):
            assert treadle(*words[:4], *([fitting[flag]] if fitting[flag] else []))[0] == 0, flag
        elif flag != "--task":
            code, out, err = treadle(*words)
            assert (code, out) == (2, ""), flag
            assert flag in only_line(err)
    err = treadle("compare", run, run, "--repeat", "9", "--limit", "1", "--model", "nope", "--budget-usd", "1")[2]
    assert all(flag in err for flag in ("--repeat", "--limit", "--model", "--budget-usd", "--task"))


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "single", *SUMS, "--margin", "2"),
        ("eval", "single", *SUMS, "--margin", "2", "--dry-run"),
        ("eval", "single", *SUMS, "--fail-if", "worse"),
        ("samples", "--effect", "5", "--n", "100", "--power", "0.8"),
    ],
)
def test_other_options_that_would_do_nothing_are_refused(treadle: Command, words: tuple[str, ...]) -> None:
    code, out, err = treadle(*words)
    assert (code, out) == (2, "")
    assert any(flag in only_line(err) for flag in ("--margin", "--fail-if", "--power"))


def float_options() -> list[tuple[str, str]]:
    return [
        (name, parameter.opts[0])
        for name, command in TREADLE.commands.items()
        for parameter in command.params
        if parameter.bare_type() == "float"
    ]


@pytest.mark.parametrize(("name", "flag"), float_options())
def test_numbers_are_finite(treadle: Command, name: str, flag: str) -> None:
    required = {
        "eval": ("single", *SUMS),
        "baseline": SUMS,
        "compare": ("single", "cot", *SUMS),
        "ablate": ("self-consistency?n=3", *SUMS),
        "search": ("--space", "workflows:single,cot", *SUMS),
        "run": ("single", "What is 1 + 1?", "--model", "adder"),
        "samples": ("--n", "100"),
        "fix": ("--repo", ".", "--issue", "adder.py", "--model", "adder"),
    }
    for value in ("nan", "inf", "-inf"):
        code, out, err = treadle(name, *required[name], flag, value)
        assert (code, out) == (2, ""), value
        assert flag in err


def test_a_budget_says_on_stderr_what_would_do(treadle: Command) -> None:
    for words in (("eval", "single", *SUMS), ("run", "single", "What is 1 + 1?", "--model", "adder")):
        code, out, err = treadle(*words, "--budget-usd", "0.000001", "--json")
        assert (code, json.loads(out)["ended_by"]) == (3, "budget")
        assert "--budget-usd 0.00" in only_line(err)


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "single", *SUMS),
        ("baseline", "--repeat", "2", *SUMS),
        ("compare", "single", "cot", *SUMS),
        ("search", "--space", "workflows:single,cot", *SUMS),
        ("run", "single", "What is 1 + 1?", "--model", "adder"),
    ],
)
def test_the_first_failure_is_told_in_both_forms(treadle: Command, place: Path, words: tuple[str, ...]) -> None:
    failing(place, "True")
    code, out, err = treadle(*words, "--json")
    assert (code, json.loads(out)["ended_by"]) == (1, "infra")
    assert "out of order" in only_line(err)
    code, out, err = treadle(*words)
    assert (code, err) == (1, "")
    assert "out of order" in " ".join(out.split())


def test_a_withheld_verdict_never_passes_the_gate(treadle: Command, place: Path) -> None:
    failing(place, "int(first) < 3")
    earlier = json.loads(treadle("eval", "single", *SUMS, "--json")[1])["run"]
    failing(place, "False")
    gate = ("eval", "single", *SUMS, "--against", earlier, "--fail-if", "worse")
    code, out, err = treadle(*gate, "--json")
    report = json.loads(out)
    assert (code, report["ended_by"], report["against"]["verdict"]) == (1, "done", None)
    assert "no verdict" in only_line(err)
    code, out, _ = treadle(*gate)
    assert code == 1
    assert "no verdict" in out


def test_the_verdict_that_failed_a_gate_is_told(treadle: Command, place: Path) -> None:
    failing(place, "False")
    earlier = json.loads(treadle("eval", "single", *SUMS, "--json")[1])["run"]
    gate = ("eval", "single", *SUMS, "--against", earlier)
    verdict = json.loads(treadle(*gate, "--json")[1])["against"]["verdict"]
    code, _, err = treadle(*gate, "--fail-if", verdict, "--json")
    assert code == 1
    assert verdict in only_line(err)
    code, out, _ = treadle(*gate, "--fail-if", verdict)
    assert code == 1
    assert verdict in out


def test_what_cannot_be_compared_is_refused_before_a_call_is_made(treadle: Command, place: Path) -> None:
    earlier = json.loads(treadle("eval", "single", *SUMS, "--json")[1])["run"]
    words = ("eval", "cot", "--task", "jsonl:sums.jsonl?scorer=exact", "--model", "adder", "--against", earlier)
    code, _, err = treadle(*words)
    assert code == 2
    assert "exact" in only_line(err)
    (place / "sums.jsonl").write_text('{"id": "s1", "input": "What is 50 + 2?", "target": 52}\n')
    code, _, err = treadle("eval", "cot", *SUMS, "--against", earlier)
    assert code == 2
    assert "shares no question" in only_line(err)
    assert len(json.loads(treadle("runs", "--json")[1])) == 1


NOISES = ("noise at import", "noise in a call", "noise of the system", "noise of a child")
NOISY = """\
import os, subprocess, sys
print("noise at import")

async def loud(problem, run):
    print("noise in a call")
    os.write(1, b"noise of the system\\n")
    subprocess.run([sys.executable, "-c", "print('noise of a child')"], check=True)
    return (await run.ask(problem)).text
"""


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "noisy:loud", *SUMS, "--limit", "1", "--json"),
        ("run", "noisy:loud", "What is 1 + 1?", "--json"),
        ("run", "noisy:loud", "What is 1 + 1?"),
    ],
)
def test_what_user_code_prints_is_no_part_of_what_is_answered(place: Path, words: tuple[str, ...]) -> None:
    (place / "noisy.py").write_text(NOISY)
    command = [sys.executable, "-m", "treadle.cli.main", *words]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    assert not any(noise in done.stdout for noise in NOISES)
    assert set(NOISES) <= set(done.stderr.splitlines())
    if "--json" in words:
        assert json.loads(done.stdout)["ended_by"] == "done"
    else:
        assert done.stdout.startswith("The answer is 2\n")


def test_what_a_script_prints_is_no_part_of_what_doctor_says(treadle: Command, place: Path) -> None:
    with (place / "adder.py").open("a") as file:
        file.write('\nprint("noise")\n')
    code, out, err = treadle("doctor", "--json")
    assert (code, json.loads(out)["ok"], err) == (0, True, "noise\n")


def test_the_first_command_of_the_help_works_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["baseline", "--task", "simulated:llm?search=6&selection=6&test=6", "--repeat", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "simulated: the numbers say nothing about real models" in out
