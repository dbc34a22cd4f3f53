"""Programs of a question: run once, remembered, traced, timed, ended."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from treadle.config import SandboxSettings, Settings
from treadle.errors import Caution, ProviderError, SandboxError, UnknownNameError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.outcome import Question, answer_question
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.ledger.shared_sandbox import SharedSandbox
from treadle.models.base import Request
from treadle.models.scripted import ScriptedModel
from treadle.sandbox.base import (
    MIB,
    Command,
    ExecResult,
    Limits,
    Program,
    Sandbox,
    Status,
    Surroundings,
    Traits,
)
from treadle.store.base import ExecutionRecord
from treadle.store.open import open_store
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.unscored import Unscored
from treadle.tasks.task import Task
from treadle.testing.sessions import new_scope, recording_run, scripted_session
from treadle.testing.virtual_time import run_virtual
from treadle.workflows.base import Calls, Workflow

PROGRAM = Program("print(1)")


class Machine:
    """A sandbox that says how often it was used; every execution prints its number and takes as long as it is told."""

    name = "machine"
    identity = "machine 1"
    traits = Traits()

    def __init__(self, *, takes: float = 0.0, seconds: float = 2.0, status: Status = "ok", prints: str = "") -> None:
        self.takes = takes
        self.seconds = seconds
        self.status: Status = status
        self.prints = prints
        self.done: list[Program | Command] = []
        self.limits: list[Limits] = []
        self.running = 0
        self.most = 0
        self.ended = 0
        self.closed = 0

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = {},  # noqa: B006
        stdin: bytes = b"",
        limits: Limits = Limits(),  # noqa: B008
        surroundings: Surroundings = Surroundings(),  # noqa: B008
    ) -> ExecResult:
        self.running += 1
        self.most = max(self.most, self.running)
        self.limits.append(limits)
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.running -= 1
            self.ended += 1
        self.done.append(work)
        reason = "no room" if self.status == "refused" else ""
        return ExecResult(
            self.status, f"{len(self.done)}{self.prints}", exit_code=0, seconds=self.seconds, reason=reason
        )

    async def aclose(self) -> None:
        self.closed += 1


def echo(request: Request) -> str:
    return "ok"


def executions(run: Run) -> list[dict[str, Any]]:
    return [entry for entry in run._span.documents() if "execution" in entry]  # pyright: ignore[reportPrivateUsage]


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


async def test_what_was_refused_is_tried_again() -> None:
    machine = Machine(status="refused")
    async with scripted_session(echo, sandbox=machine) as session:
        recording = await session.record("test")
        for _ in range(2):
            run = Run(new_scope(recording))
            assert (await run.sandbox.execute(PROGRAM)).status == "refused"
            assert executions(run)[0]["reason"] == "no room"
    assert len(machine.done) == 2


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
        assert (sandbox.name, sandbox.identity, sandbox.traits) == ("machine", "machine 1", Traits())
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


# What a question costs, and when it ends.

TASK = Task("q", (Sample("q1", "What?"), Sample("q2", "Which?")), Unscored())


def running(*programs: str) -> Workflow:
    """A workflow that runs programs and answers with what they print."""

    async def answer(problem: Problem, run: Run) -> str:
        return " ".join([(await run.sandbox.execute(Program(text))).stdout for text in programs])

    return Workflow("running", answer, Calls(0, 0))


async def test_repeats_and_fresh_families_run_anew_and_a_finished_run_replays() -> None:
    machine = Machine(seconds=1.5)
    async with scripted_session(echo, sandbox=machine) as session:
        answers: list[Any] = []
        for fresh in (0, 1, 0):
            report = await evaluate(session, [running("a", "b")], TASK, repeat=2, fresh=fresh, models=["m"])
            (row,) = report.rows
            answers.append([(outcome.repeat, outcome.answer) for outcome in row.outcomes])
            assert row.per_sample["seconds"] == 3.0
    assert answers[0] == answers[2]
    assert answers[0] != answers[1]
    # Both questions run the same programs, so each is made once in each of the four blocks.
    assert len(machine.done) == 2 * 2 * 2


async def test_what_a_scorer_runs_is_no_part_of_the_structures_cost() -> None:
    class Running(Unscored):
        runs_code = False

        async def score(self, sample: Sample, answer: str, run: Run) -> Score:
            result = await run.sandbox.execute(Program("graded"))
            return Score(1.0, result.stdout)

    machine = Machine(seconds=5.0)
    async with scripted_session(echo, sandbox=machine) as session:
        task = Task("q", TASK.samples, Running())
        report = await evaluate(session, ["single"], task, models=["m"])
        (row,) = report.rows
        assert [outcome.score for outcome in row.outcomes] == [1.0, 1.0]
        assert (row.per_sample["seconds"] or 0.0) < 5.0
        samples = await session.journal.read(lambda store: store.samples(report.run))
        assert all(b'"operator":"scorer"' in sample.trace and b'"execution"' in sample.trace for sample in samples)
        machine.status = "refused"
        report = await evaluate(session, ["single"], task, models=["m"], fresh=1)
        assert {outcome.status for outcome in report.rows[0].outcomes} == {"infra"}
        assert "refused to run it: no room" in report.rows[0].outcomes[0].reason


def test_a_questions_time_ends_a_program_that_hangs_and_nothing_is_left_running() -> None:
    async def main() -> None:
        machine = Machine(takes=1000)
        async with scripted_session(echo, sandbox=machine) as session:
            recording = await session.record("test")
            loop = asyncio.get_running_loop()
            question = Question(running("hangs"), TASK, TASK.samples[0], 0, 0, Budget(seconds=3))
            outcome = await answer_question(recording, question, ())
            assert (outcome.status, loop.time()) == ("timeout", 3.0)
            assert (machine.running, machine.ended) == (0, 1)

    run_virtual(main())


def test_waiting_for_a_turn_is_nobodys_time() -> None:
    async def main() -> None:
        machine = Machine(takes=2, seconds=2)
        async with scripted_session(echo, sandbox=machine) as session:
            session.shared_sandbox = SharedSandbox(machine, Limits(), width=2)
            session.executions._sandbox = session.shared_sandbox  # pyright: ignore[reportPrivateUsage]
            recording = await session.record("test")
            questions = [Question(running(f"{n}"), TASK, TASK.samples[0], 0, 0, Budget(seconds=3)) for n in range(6)]
            outcomes = await asyncio.gather(*(answer_question(recording, each, ()) for each in questions))
            assert {(outcome.status, outcome.seconds) for outcome in outcomes} == {("ok", 2.0)}
            assert (machine.most, asyncio.get_running_loop().time()) == (2, 6.0)

    run_virtual(main())


@pytest.mark.parametrize("ends", ["interrupt", "clock"])
def test_an_interrupt_and_the_runs_clock_end_programs(ends: str) -> None:
    async def main() -> None:
        machine = Machine(takes=1000)
        async with scripted_session(echo, sandbox=machine) as session:
            loop = asyncio.get_running_loop()
            if ends == "interrupt":
                loop.call_later(5, session.interrupt)
            budget = Budget(seconds=5) if ends == "clock" else None
            report = await evaluate(session, [running("hangs")], TASK, models=["m"], budget=budget)
            assert report.ended_by == ("interrupt" if ends == "interrupt" else "budget")
            assert (machine.running, machine.ended, loop.time()) == (0, 1, 5.0)

    run_virtual(main())


def test_one_that_gives_up_does_not_end_what_another_still_waits_for() -> None:
    async def main() -> None:
        machine = Machine(takes=10)
        async with scripted_session(echo, sandbox=machine) as session:
            recording = await session.record("test")
            impatient, patient = (
                asyncio.create_task(Run(new_scope(recording)).sandbox.execute(PROGRAM)) for _ in range(2)
            )
            await asyncio.sleep(5)
            impatient.cancel()
            assert (await patient).stdout == "1"
            assert asyncio.get_running_loop().time() == 10

    run_virtual(main())


# Opening.


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


async def test_what_it_can_do_is_known_before_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    machine.traits = Traits(commands=False)

    async def open_machine(kind: str = "auto") -> Sandbox:
        return machine

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_machine)
    async with recording_run(echo) as (run, _):
        assert not run.sandbox.traits.commands
        assert (run.sandbox.name, machine.closed) == ("machine", 1)
    assert machine.closed == 1


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
