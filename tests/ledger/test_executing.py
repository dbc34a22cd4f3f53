"""Programs of a question: run once, remembered, traced, refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from machine import PROGRAM, Machine, echo, executions

from treadle.config import SandboxSettings, Settings
from treadle.errors import ProviderError
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.models.scripted import ScriptedModel
from treadle.sandbox.base import (
    MIB,
    Command,
    ExecResult,
    Limits,
    Program,
    Sandbox,
    Surroundings,
    Traits,
)
from treadle.sandbox.layout import packages_digest
from treadle.store.base import ExecutionRecord
from treadle.store.open import open_store
from treadle.testing.sessions import new_scope, recording_run, scripted_session


async def test_a_replay_finds_every_execution_and_the_kth_same_one_is_the_kth_draw(tmp_path: Path) -> None:
    machine = Machine()
    seen: list[list[str]] = []
    for _ in range(2):
        store = open_store(f"sqlite:///{tmp_path}/t.db", tmp_path)
        async with recording_run(echo, store=store, sandbox=machine) as (run, _recording):
            first = [(await run.sandbox.execute(PROGRAM)).stdout for _ in range(2)]
            branches = await run.gather(run.sandbox.execute(PROGRAM) for _ in range(3))
            other = await run.sandbox.execute(Program("print(2)"))
            seen.append([*first, *(each.stdout for each in branches), other.stdout])
            assert [entry["draw"] for entry in executions(run)] == [0, 1, 2, 3, 4, 0]
        store.close()
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == len(machine.done) == 6
    assert machine.closed == 0, "a sandbox that was given stays its owner's to close"


@pytest.mark.parametrize(
    "changed",
    [
        {"work": Program("print(1) ")},
        {"work": Command(("print(1)",))},
        {"files": {"a.txt": b"other"}},
        {"files": {"b.txt": b"a"}},
        {"stdin": b"\n"},
        {"limits": Limits(seconds=3)},
        {"surroundings": Surroundings(env={"A": "2"})},
        {"surroundings": Surroundings(env={"A": "1"}, network=True)},
        {"surroundings": Surroundings(env={"A": "1"}, writable=False)},
    ],
)
async def test_everything_that_an_execution_is_given_is_part_of_its_address(changed: dict[str, Any]) -> None:
    given: dict[str, Any] = {
        "work": PROGRAM,
        "files": {"a.txt": b"a"},
        "stdin": b"",
        "limits": Limits(seconds=2.0),
        "surroundings": Surroundings(env={"A": "1"}),
    }
    machine = Machine()
    async with scripted_session(echo, sandbox=machine) as session:
        recording = await session.record("test")
        as_before: dict[str, Any] = {**given, "limits": Limits(seconds=2)}
        for asked in (given, as_before, given | changed, given):
            await Run(new_scope(recording)).sandbox.execute(**asked)
    assert len(machine.done) == 2


async def test_another_sandbox_is_asked_anew() -> None:
    store = open_store("sqlite:///:memory:", Path())
    machines = [Machine(), Machine(), Machine()]
    machines[1].identity = "machine 2"
    for machine in machines:
        async with recording_run(echo, store=store, sandbox=machine) as (run, _):
            await run.sandbox.execute(PROGRAM)
    store.close()
    assert [len(machine.done) for machine in machines] == [1, 1, 0]


@pytest.mark.parametrize("named", ["folder", "readable"])
async def test_what_sees_files_of_this_machine_is_run_every_time(named: str, tmp_path: Path) -> None:
    surroundings = Surroundings(folder=tmp_path) if named == "folder" else Surroundings(readable=(tmp_path,))
    machine = Machine()
    async with scripted_session(echo, sandbox=machine) as session:
        recording = await session.record("test")
        for _ in range(2):
            run = Run(new_scope(recording))
            await run.sandbox.execute(PROGRAM, surroundings=surroundings)
            assert executions(run)[0]["key"] is None
    assert len(machine.done) == 2


async def test_the_same_execution_in_flight_is_made_once() -> None:
    machine = Machine(takes=0.01)
    async with scripted_session(echo, sandbox=machine) as session:
        recording = await session.record("test")
        runs = [Run(new_scope(recording)) for _ in range(5)]
        results = await asyncio.gather(*(run.sandbox.execute(PROGRAM) for run in runs))
    assert {each.stdout for each in results} == {"1"}
    assert [executions(run)[0]["cached"] for run in runs] == [False, True, True, True, True]


async def test_what_the_machine_refused_is_no_result_and_tried_again() -> None:
    machine = Machine(status="refused")
    async with scripted_session(echo, sandbox=machine) as session:
        recording = await session.record("test")
        for _ in range(2):
            run = Run(new_scope(recording))
            with pytest.raises(ProviderError, match="refused to run it: no room"):
                await run.sandbox.execute(PROGRAM)
            assert (executions(run)[0]["status"], executions(run)[0]["reason"]) == ("refused", "no room")
        machine.status = "ok"
        assert (await Run(new_scope(recording)).sandbox.execute(PROGRAM)).stdout == "3"


@pytest.mark.parametrize(
    ("asked", "traits"),
    [
        ({"files": {"../x": b""}}, Traits()),
        ({"work": Command(())}, Traits()),
        ({"work": Command(("echo", "a\0b"))}, Traits()),
        ({"surroundings": Surroundings(folder=Path("/nowhere/at/all"))}, Traits()),
        ({"surroundings": Surroundings(env={"A=": "1"})}, Traits()),
        ({"surroundings": Surroundings(env={"A": "1"})}, Traits(folders=False)),
        ({"work": Command(("echo",))}, Traits(commands=False)),
        ({"files": {"a": b""}}, Traits(inputs=False)),
        ({"stdin": b"a"}, Traits(inputs=False)),
    ],
)
async def test_what_is_wrong_with_the_work_itself_stays_its_result(asked: dict[str, Any], traits: Traits) -> None:
    given: dict[str, Any] = {"work": PROGRAM, **asked}
    machine = Machine(status="refused")
    machine.traits = traits
    async with recording_run(echo, sandbox=machine) as (run, _):
        assert (await run.sandbox.execute(**given)).status == "refused"
        machine.traits = Traits(commands=False, folders=False, inputs=False)
        with pytest.raises(ProviderError):
            await run.sandbox.execute(Program("print(2)"))


async def test_where_another_process_was_first_its_result_holds() -> None:
    store = open_store("sqlite:///:memory:", Path())

    class Overtaken(Machine):
        async def execute(self, work: Program | Command, **given: Any) -> ExecResult:
            await other.sandbox.execute(work, **given)
            return await super().execute(work, **given)

    async with (
        recording_run(echo, store=store, sandbox=Machine(prints=" first")) as (other, _),
        recording_run(echo, store=store, sandbox=Overtaken(prints=" second")) as (run, _),
    ):
        assert (await run.sandbox.execute(PROGRAM, limits=Limits())).stdout == "1 first"
    store.close()


async def test_no_secret_is_kept_or_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2-hunter2")
    kept: list[ExecutionRecord] = []
    async with recording_run(echo, sandbox=Machine(prints=" hunter2-hunter2")) as (run, recording):
        assert (await run.sandbox.execute(PROGRAM)).stdout == "1 [redacted]"
        key: str = executions(run)[0]["key"]
        kept += (await recording.journal.read(lambda store: store.executions([key]))).values()
    assert b"hunter2" not in kept[0].result
    assert kept[0].seconds == 2.0


async def test_an_execution_stands_in_the_trace_where_it_was_made() -> None:
    machine = Machine(status="failed")
    async with recording_run(echo, sandbox=machine) as (run, _):
        await run.sandbox.execute(Command(("git", "apply", "a file")))
        await run.child("tests").sandbox.execute(Program("\n\n  import sys  # " + "x" * 200))
        command, span = run._span.documents()  # pyright: ignore[reportPrivateUsage]
    assert command == {
        "execution": "machine",
        "work": "git apply 'a file'",
        "draw": 0,
        "key": command["key"],
        "start": 0.0,
        "seconds": 2.0,
        "cached": False,
        "status": "failed",
        "exit_code": 0,
    }
    (inner,) = span["children"]
    assert (span["operator"], inner["start"]) == ("tests", 2.0)
    assert inner["work"].startswith("import sys  # xx")
    assert len(inner["work"]) == 80


async def test_the_sandbox_of_a_run_is_one_like_any_other() -> None:
    async with recording_run(echo, sandbox=Machine()) as (run, recording):
        sandbox: Sandbox = run.sandbox
        assert (sandbox.name, sandbox.traits) == ("machine", Traits())
        assert sandbox.identity == f"machine 1, packages {packages_digest()}"
        await sandbox.aclose()
        assert (await sandbox.execute(PROGRAM)).status == "ok"
        assert recording.session.shared_sandbox.kind == "machine"


async def test_the_files_limits_hold_where_nothing_else_is_said() -> None:
    machine = Machine()
    settings = Settings(sandbox=SandboxSettings(seconds=3.0, memory_mb=100, processes=7))
    store = open_store("sqlite:///:memory:", Path())
    async with Session(settings, store=store, models={"m": ScriptedModel(echo)}, sandbox=machine) as session:
        run = Run(new_scope(await session.record("test")))
        assert run.sandbox.limits == Limits(3.0, memory=100 * MIB, processes=7)
        await run.sandbox.execute(PROGRAM)
        await run.sandbox.execute(PROGRAM, limits=Limits(seconds=1))
    store.close()
    assert machine.limits == [Limits(3.0, memory=100 * MIB, processes=7), Limits(seconds=1)]


async def test_a_fault_of_the_sandbox_itself_is_the_machines_and_not_the_programs() -> None:
    class Broken(Machine):
        async def execute(self, work: Program | Command, **given: Any) -> ExecResult:
            raise OSError("no more processes")

    async with recording_run(echo, sandbox=Broken()) as (run, _):
        with pytest.raises(ProviderError, match="machine failed: OSError.*no more processes"):
            await run.sandbox.execute(PROGRAM)
