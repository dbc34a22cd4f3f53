"""A session's sandbox: opened when it is first needed, and known from then on."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Any

import pytest
from machine import PROGRAM, TASK, Machine, echo

from treadle.config import Settings
from treadle.errors import Caution, SandboxError, UnknownNameError, UserError
from treadle.evaluation.evaluate import evaluate
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.operators.candidate import Candidate
from treadle.operators.executed_tests import run_public_tests
from treadle.sandbox.base import Command, Sandbox, Traits
from treadle.sandbox.layout import packages_digest
from treadle.store.open import open_store
from treadle.testing.sessions import recording_run, scripted_session
from treadle.workflows.base import Calls, Workflow


async def test_an_unknown_kind_is_refused_before_anything_else() -> None:
    with pytest.raises(UnknownNameError, match="did you mean bubblewrap"):
        Session(Settings(), sandbox="bubblewarp")


async def test_a_workflow_that_said_nothing_opens_the_sandbox_by_using_it(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    async def open_machine(kind: str = "auto") -> Sandbox:
        opened.append(kind)
        await asyncio.sleep(0)
        return machine

    machine = Machine()
    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_machine)
    async with recording_run(echo, sandbox="landlock") as (run, _):
        assert opened == []
        await run.gather(run.sandbox.execute(PROGRAM) for _ in range(3))
        assert opened == ["landlock"]
        assert machine.closed == 0
    assert machine.closed == 1


@pytest.mark.parametrize("how", ["open", "execute"])
async def test_what_it_is_and_can_do_is_known_once_it_is_open(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    machine = Machine()
    machine.traits = Traits(commands=False)
    opened: list[str] = []

    async def open_machine(kind: str = "auto") -> Sandbox:
        opened.append(kind)
        return machine

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_machine)
    async with recording_run(echo) as (run, _):
        for member in ("name", "identity", "traits"):
            with pytest.raises(UserError, match=r"not open yet.*await run\.sandbox\.open\(\)"):
                getattr(run.sandbox, member)
        assert opened == []
        await (run.sandbox.open() if how == "open" else run.sandbox.execute(PROGRAM))
        assert (run.sandbox.name, run.sandbox.traits.commands) == ("machine", False)
        assert run.sandbox.identity.startswith("machine 1, ")
    assert (opened, machine.closed) == (["auto"], 1)


async def test_operators_that_run_tests_open_it_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    async def open_machine(kind: str = "auto") -> Sandbox:
        return Machine()

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_machine)
    problem = Problem("Add.", entry_point="add", public_tests=("assert add(1, 2) == 3",))
    async with recording_run(echo) as (run, _):
        report = await run_public_tests(problem, Candidate("a", "def add(a, b): return a + b"), run=run)
        assert len(report.outcomes) == 1


@pytest.mark.parametrize("changes", [True, False])
async def test_other_installed_packages_are_another_sandbox(monkeypatch: pytest.MonkeyPatch, changes: bool) -> None:
    store = open_store("sqlite:///:memory:", Path())
    machine = Machine()
    for digest in ("a", "b" if changes else "a"):
        monkeypatch.setattr("treadle.sandbox.layout.packages_digest", lambda digest=digest: digest)
        async with recording_run(echo, store=store, sandbox=machine) as (run, _):
            await run.sandbox.execute(PROGRAM)
    store.close()
    assert len(machine.done) == 1 + changes


def test_the_digest_of_packages_is_of_their_names_and_versions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("site.getsitepackages", lambda: [str(tmp_path), str(tmp_path / "none")])
    monkeypatch.setattr("sysconfig.get_path", lambda name="": str(tmp_path))
    seen: list[str] = []
    for made in ("numpy-2.1.0.dist-info", "numpy", "numpy-2.1.1.dist-info", "old.egg-info", "treadle-9.dist-info"):
        (tmp_path / made).mkdir()
        seen.append(packages_digest.__wrapped__())
    assert [seen.index(each) for each in seen] == [0, 0, 2, 3, 3]
    assert packages_digest() == packages_digest()


async def test_going_on_in_another_sandbox_is_said_with_both_kinds() -> None:
    store = open_store("sqlite:///:memory:", Path())
    async with scripted_session(echo, store=store, sandbox="none") as session:
        recording = await session.record("search")
        async with recording.closing() as ending:
            ending.ended_by = "budget"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async with scripted_session(echo, store=store, sandbox="none") as session:
            again = await session.record("search", resume=recording.id)
            async with again.closing() as ending:
                ending.ended_by = "budget"
    async with scripted_session(echo, store=store, sandbox="landlock") as session:
        with pytest.warns(Caution, match="begun with --sandbox none and goes on with --sandbox landlock"):
            await session.record("search", resume=recording.id)
    store.close()


async def test_without_a_sandbox_the_run_ends_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    async def open_nothing(kind: str = "auto") -> Sandbox:
        raise SandboxError("nothing here isolates; install bubblewrap")

    async def swallows(problem: Problem, run: Run) -> str:
        try:
            await run.sandbox.execute(PROGRAM)
        except SandboxError:
            return "never mind"
        return "ran"

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_nothing)
    async with scripted_session(echo) as session:
        with pytest.raises(SandboxError, match="install bubblewrap"):
            await evaluate(session, [Workflow("swallows", swallows, Calls(0, 0))], TASK, models=["m"])


async def test_a_sandbox_that_protects_nothing_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def open_machine(kind: str = "auto") -> Sandbox:
        machine = Machine()
        machine.traits = Traits(isolated=False)
        return machine

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_machine)
    async with recording_run(echo, sandbox="none") as (run, _):
        with pytest.warns(Caution, match="programs run unprotected"):
            await run.sandbox.execute(PROGRAM)
        await run.sandbox.execute(PROGRAM)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"work": "print(1)"}, "takes a Program or a Command"),
        ({"work": Command("python -V")}, "one by one"),  # pyright: ignore[reportArgumentType]
        ({"work": PROGRAM, "files": {"a.txt": "hello"}}, "as bytes"),
        ({"work": PROGRAM, "stdin": "hi"}, "as bytes"),
        ({"work": PROGRAM, "limits": {"seconds": 5}}, r"Limits\(seconds=…"),
    ],
)
async def test_what_is_of_another_kind_is_refused_with_what_would_do(given: dict[str, Any], words: str) -> None:
    async with recording_run(echo, sandbox=Machine()) as (run, _):
        with pytest.raises(UserError, match=words):
            await run.sandbox.execute(**given)
