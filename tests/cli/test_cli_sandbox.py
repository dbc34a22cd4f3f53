"""Programs on the command line: which sandbox, what is said before, what is refused, what doctor proves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from treadle.errors import SandboxError
from treadle.sandbox.base import ExecResult, Program, Sandbox, Traits
from treadle.sandbox.proofs import Proof

Command = Callable[..., tuple[int, str, str]]

OWN = """\
import sys, treadle
from treadle.sandbox.base import Command, Program

@treadle.workflow
async def adds(problem, run):
    a, b = (int(word) for word in problem.replace("?", "").split() if word.isdigit())
    result = await run.sandbox.execute(Program(f"print({a} + {b})"))
    return f"Answer: {result.stdout.strip()}"

@treadle.workflow
async def hangs(problem, run):
    await run.sandbox.execute(Command((sys.executable, "-c", "import time; time.sleep(600)", "MARKER")))
    return "never"
"""
SUMS = ("--task", "jsonl:sums.jsonl", "--model", "adder")


class Isolating:
    """Says that it isolates; whatever is run prints 3."""

    name = "bubblewrap"
    identity = "bubblewrap of a test"
    traits = Traits()

    async def execute(self, work: Any, **given: Any) -> ExecResult:
        assert isinstance(work, Program)
        return ExecResult("ok", "3\n", exit_code=0, seconds=0.02)

    async def aclose(self) -> None:
        pass


@pytest.fixture
def own(place: Path) -> Path:
    """The folder, with a module of workflows that run programs."""
    (place / "own.py").write_text(OWN)
    return place


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of sandbox that were opened; bubblewrap works here, and nothing else does."""
    kinds: list[str] = []

    async def open_sandbox(kind: str = "auto") -> Sandbox:
        kinds.append(kind)
        if kind in ("auto", "bubblewrap"):
            return Isolating()
        raise SandboxError(f"{kind} is not here; install it")

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_sandbox)
    return kinds


@pytest.mark.usefixtures("own")
def test_an_own_workflow_runs_programs_unprotected_only_when_told_and_is_told_so(treadle: Command) -> None:
    code, out, err = treadle("eval", "own:adds", *SUMS, "--sandbox", "none", "--limit", "4", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert document["results"][0]["score"] == 1.0
    assert document["results"][0]["per_sample"]["seconds"] > 0.0
    assert err.count("programs run unprotected (sandbox none)") == 1
    assert "caution: " in err
    again = json.loads(treadle("eval", "own:adds", *SUMS, "--sandbox", "none", "--limit", "4", "--json")[1])
    assert again["results"][0]["per_sample"] == document["results"][0]["per_sample"]
    trace = json.loads(treadle("trace", again["run"], "--json")[1])["samples"][0]["trace"]
    assert (trace[0]["execution"], trace[0]["work"], trace[0]["cached"]) == ("none", "print(1 + 2)", True)
    assert "none print(1 + 2)" in treadle("trace", again["run"])[1]


@pytest.mark.usefixtures("own")
def test_the_flag_wins_over_the_file_and_the_file_over_auto(treadle: Command, own: Path, opened: list[str]) -> None:
    assert treadle("run", "own:adds", "What is 1 + 2?", "--model", "adder")[0] == 0
    with (own / "treadle.toml").open("a") as file:
        file.write('[sandbox]\nkind = "nsjail"\n')
    code, _, err = treadle("run", "own:adds", "What is 1 + 2?", "--model", "adder")
    assert (code, err) == (2, "treadle: nsjail is not here; install it\n")
    assert treadle("run", "own:adds", "What is 1 + 2?", "--model", "adder", "--sandbox", "bubblewrap")[0] == 0
    assert opened == ["auto", "nsjail", "bubblewrap"]


@pytest.mark.parametrize("words", [("--sandbox", "bubblewarp"), ("--sandbox", "bubblewarp", "--dry-run")])
def test_an_unknown_kind_is_a_mistake_with_near_matches(treadle: Command, words: tuple[str, ...]) -> None:
    code, out, err = treadle("eval", "single", *SUMS, *words)
    assert (code, out) == (2, "")
    assert err == "treadle: unknown sandbox 'bubblewarp'; did you mean bubblewrap?\n"


def test_finished_runs_are_compared_without_a_sandbox(treadle: Command) -> None:
    code, _, err = treadle("compare", "a", "b", "--sandbox", "none")
    assert code == 2
    assert "--sandbox" in err


def test_a_workflow_that_runs_no_program_opens_nothing(treadle: Command, opened: list[str]) -> None:
    assert treadle("eval", "single", *SUMS, "--sandbox", "docker")[0] == 0
    assert opened == []


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "program-of-thought", *SUMS),
        ("run", "program-of-thought", "What is 1 + 2?", "--model", "adder"),
        ("search", "--space", "workflows:single,program-of-thought", *SUMS),
    ],
)
def test_a_dry_run_says_that_programs_would_run_and_runs_none(
    treadle: Command, opened: list[str], words: tuple[str, ...]
) -> None:
    code, _, err = treadle(*words, "--dry-run", "--sandbox", "podman")
    assert (code, opened) == (0, [])
    assert err == "treadle: programs would be run (sandbox podman) by program-of-thought\n"


def test_a_search_that_goes_on_in_another_sandbox_says_so(treadle: Command, opened: list[str]) -> None:
    words = ("search", "--space", "workflows:single,cot", *SUMS, "--sandbox", "podman")
    code, out, _ = treadle(*words, "--budget-calls", "3", "--json")
    assert code == 3
    more = ("--resume", json.loads(out)["run"], "--budget-calls", "5000", "--json")
    code, _, err = treadle("search", *more, "--sandbox", "docker")
    assert code == 0, err
    assert err.count("begun with --sandbox podman and goes on with --sandbox docker") == 1
    assert (treadle("search", *more, "--sandbox", "podman")[2], opened) == ("", [])


def test_doctor_proves_the_sandbox_and_names_the_others(
    treadle: Command, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    proofs = [Proof("network", True, "no connection"), Proof("keys", True, "not in the environment")]

    async def prove(sandbox: Sandbox) -> tuple[Proof, ...]:
        return tuple(proofs)

    monkeypatch.setattr("treadle.cli.sandbox_checks.prove", prove)
    code, out, _ = treadle("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    assert code == 0
    assert checks["sandbox"]["detail"] == "bubblewrap, isolates"
    assert checks["sandbox: network"] == {
        "name": "sandbox: network",
        "ok": True,
        "detail": "no connection",
        "optional": False,
    }
    assert checks["sandbox docker"]["detail"] == "docker is not here; install it"
    assert "none" not in opened
    proofs.append(Proof("fork bomb", False, "it started 64 processes"))
    code, out, _ = treadle("doctor")
    assert code == 1
    assert "bubblewrap lets through: fork bomb" in out


def test_doctor_without_a_sandbox_says_what_to_do_and_one_that_is_asked_for_has_to_work(
    treadle: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def open_nothing(kind: str = "auto") -> Sandbox:
        raise SandboxError("nothing here isolates; install bubblewrap")

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_nothing)
    code, out, _ = treadle("doctor")
    assert code == 0
    assert "nothing here isolates; install bubblewrap" in out
    with (place / "treadle.toml").open("a") as file:
        file.write('[sandbox]\nkind = "podman"\n')
    assert treadle("doctor")[0] == 1


def test_doctor_says_that_none_protects_nothing(treadle: Command, place: Path) -> None:
    with (place / "treadle.toml").open("a") as file:
        file.write('[sandbox]\nkind = "none"\n')
    checks = {check["name"]: check for check in json.loads(treadle("doctor", "--json")[1])["checks"]}
    assert not checks["sandbox"]["ok"]
    assert "programs run unprotected" in checks["sandbox"]["detail"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the processes of this machine as Linux shows them")
def test_an_interrupt_ends_a_program_that_hangs_within_two_seconds(own: Path) -> None:
    marker = f"program of test {os.getpid()}"
    (own / "own.py").write_text(OWN.replace("MARKER", marker))
    words = ("eval", "own:hangs", *SUMS, "--sandbox", "none", "--concurrency", "2", "--json")
    process = subprocess.Popen(
        [sys.executable, "-m", "treadle.cli.main", *words],
        cwd=own,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        started = time.monotonic()
        while not running(marker):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() - started < 20
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
        assert time.monotonic() - begun < 3.0
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, json.loads(out)["ended_by"]) == (130, "interrupt")
    assert not running(marker)


def running(marker: str) -> list[str]:
    """The processes with a marker in their command line."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found
