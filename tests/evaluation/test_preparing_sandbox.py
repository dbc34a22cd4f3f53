"""Where programs will be run, a sandbox is there before anything is spent, and tells good programs from bad."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from treadle.cli.keyless import KeylessSession
from treadle.config import SandboxSettings, Settings
from treadle.errors import DatasetError, SandboxError
from treadle.evaluation.ablation import ablate
from treadle.evaluation.ask import ask
from treadle.evaluation.baseline import baseline
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.preparing import prepare_sandbox, prepare_task
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.ledger.shared_sandbox import limits_of
from treadle.models.base import Request
from treadle.sandbox.base import ExecResult, Limits, Program, Sandbox, Status, Traits
from treadle.search.search import search
from treadle.tasks.base import Sample, Score
from treadle.tasks.decorator import task as user_task
from treadle.tasks.scorers.unscored import Unscored
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session
from treadle.workflows.base import Calls, Workflow

SAMPLES = (Sample("q1", "What?", "41"), Sample("q2", "Which?", "42"))


class Graded(Unscored):
    """Grades by running what was answered."""

    runs_code = True
    name = "graded"

    def show(self, target: Any) -> str:
        return str(target)

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        result = await run.sandbox.execute(Program(answer))
        return Score(float(result.stdout == sample.target), answer)


class Echoing:
    """Says that every program prints itself."""

    name = "echoing"
    identity = "echoing 1"
    traits = Traits()

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def execute(self, work: Any, **given: Any) -> ExecResult:
        self.ran.append(work.source)
        return ExecResult("ok", work.source, exit_code=0, seconds=0.1)

    async def aclose(self) -> None:
        pass


class Asked:
    """A model that counts how often it was asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, request: Request) -> str:
        self.times += 1
        return "41"


async def answers(problem: Problem, run: Run) -> str:
    return (await run.ask(problem)).text


RUNNING = Workflow("running", answers, Calls(1, 1), runs_code=True)
TASK = Task("graded", SAMPLES, Graded())


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """What the canaries find, one after the other; nothing in the end."""
    faults: list[str | None] = []

    async def canaries(sandbox: Sandbox, limits: Limits) -> str | None:
        assert sandbox.name == "echoing"
        return faults.pop() if faults else None

    monkeypatch.setattr("treadle.sandbox.code_tests.canaries", canaries, raising=False)
    return faults


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def open_nothing(kind: str = "auto") -> Sandbox:
        raise SandboxError("nothing here isolates; install bubblewrap")

    monkeypatch.setattr("treadle.sandbox.choose.open_sandbox", open_nothing)


@pytest.mark.usefixtures("nothing")
@pytest.mark.parametrize(("workflow", "task"), [(RUNNING, Task("q", SAMPLES, Unscored())), ("single", TASK)])
async def test_without_a_sandbox_nothing_is_spent(workflow: Workflow | str, task: Task) -> None:
    model = Asked()
    async with scripted_session(model) as session:
        with pytest.raises(SandboxError, match="install bubblewrap"):
            await evaluate(session, [workflow], task, models=["m"])
        with pytest.raises(SandboxError, match="install bubblewrap"):
            await ask(session, RUNNING, "What?", models=["m"])
        assert await session.journal.read(lambda store: store.runs()) == []
    assert model.times == 0


async def test_a_sandbox_that_does_not_tell_good_programs_from_bad_grades_nothing(checked: list[str | None]) -> None:
    checked.append("a program that is wrong passed its tests")
    model = Asked()
    async with scripted_session(model, sandbox=Echoing()) as session:
        with pytest.raises(SandboxError, match="echoing: a program that is wrong passed"):
            await evaluate(session, ["single"], TASK, models=["m"])
        assert model.times == 0
        report = await evaluate(session, ["single"], TASK, models=["m"])
        assert [outcome.score for outcome in report.rows[0].outcomes] == [1.0, 0.0]


@pytest.mark.usefixtures("checked")
async def test_references_are_run_once_for_the_same_sandbox() -> None:
    rows = [{"id": "q1", "input": "What?", "target": "41"}, {"id": "q2", "input": "Which?", "target": "42"}]
    machine = Echoing()
    given = user_task(scorer=Graded(), name="own")(lambda: rows)  # pyright: ignore[reportArgumentType]
    async with scripted_session(Asked(), sandbox=machine) as session:
        for _ in range(2):
            assert (await prepare_task(session, given)).samples
            assert sorted(machine.ran) == ["41", "42"]
        machine.identity = "echoing 2"
        await prepare_task(session, given)
        assert len(machine.ran) == 4


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("changed", [{"seconds": 99.0}, {"memory_mb": 99}, {"processes": 99}])
async def test_references_are_run_again_within_other_limits(changed: dict[str, Any]) -> None:
    rows = [{"id": "q1", "input": "What?", "target": "41"}]
    machine = Echoing()
    given = user_task(scorer=Graded(), name="own")(lambda: rows)  # pyright: ignore[reportArgumentType]
    async with scripted_session(Asked(), sandbox=machine) as session:
        await prepare_task(session, given)
        session.shared_sandbox.limits = limits_of(SandboxSettings(**changed))
        await prepare_task(session, given)
    assert machine.ran == ["41", "41"]


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("status", ["timed_out", "out_of_memory", "crashed", "failed"])
async def test_a_reference_that_failed_once_is_run_again(status: Status) -> None:
    class Busy(Echoing):
        async def execute(self, work: Any, **given: Any) -> ExecResult:
            done = await super().execute(work, **given)
            return done if len(self.ran) > 1 else ExecResult(status, "")

    given = user_task(scorer=Graded(), name="own")(lambda: [{"input": "What?", "target": "41"}])  # pyright: ignore[reportArgumentType]
    async with scripted_session(Asked(), sandbox=Busy()) as session:
        with pytest.raises(DatasetError, match="graded wrong"):
            await prepare_task(session, given)
        assert len((await prepare_task(session, given)).samples) == 1


@pytest.mark.usefixtures("checked")
async def test_references_that_fail_are_refused() -> None:
    class Deaf(Echoing):
        async def execute(self, work: Any, **given: Any) -> ExecResult:
            return ExecResult("failed", "", exit_code=1)

    given = user_task(scorer=Graded(), name="own")(lambda: [{"input": "What?", "target": "41"}])  # pyright: ignore[reportArgumentType]
    async with scripted_session(Asked(), sandbox=Deaf()) as session:
        with pytest.raises(DatasetError, match="graded wrong"):
            await prepare_task(session, given)


@pytest.mark.usefixtures("nothing")
async def test_an_estimate_needs_no_sandbox() -> None:
    given = user_task(scorer=Graded(), name="own")(lambda: [{"input": "What?", "target": "41"}])  # pyright: ignore[reportArgumentType]
    async with KeylessSession(Settings()) as session:
        opened = await prepare_task(session, given)
        assert opened.runs_code
        assert await prepare_sandbox(session, opened, [RUNNING]) is None


async def test_what_runs_no_program_opens_nothing() -> None:
    async with scripted_session(Asked(), sandbox="docker") as session:
        assert await prepare_sandbox(session, Task("q", SAMPLES, Unscored()), []) is None
        assert isinstance(session, Session)


class Slow(Echoing):
    """Says that a program is running, and takes as long as it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = asyncio.Event()
        self.ended = 0

    async def execute(self, work: Any, **given: Any) -> ExecResult:
        self.busy.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1
        raise AssertionError


Measures = Callable[..., Coroutine[Any, Any, Any]]


async def searched(session: Session, names: Any, task: Any, **options: Any) -> Any:
    return await search(session, f"workflows:{','.join(names)}", task=task, **options)


async def ablated(session: Session, names: Any, task: Any, **options: Any) -> Any:
    return await ablate(session, "self-consistency?n=3", task, **options)


async def baselines(session: Session, names: Any, task: Any, **options: Any) -> Any:
    return await baseline(session, task, **options)


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("measures", [evaluate, ablated, searched, baselines])
@pytest.mark.parametrize("end", ["interrupt", "budget"])
async def test_a_check_that_is_ended_ends_in_the_usual_document(measures: Measures, end: str) -> None:
    rows = [{"id": f"q{n}", "input": f"What {n}?", "target": "41"} for n in range(60)]
    given = user_task(scorer=Graded(), name="own")(lambda: rows)  # pyright: ignore[reportArgumentType]
    model, machine = Asked(), Slow()
    budget = Budget(seconds=0.2) if end == "budget" else None
    async with scripted_session(model, sandbox=machine) as session:
        measuring: asyncio.Task[Any] = asyncio.create_task(
            measures(session, ["single", "cot"], given, models=["m"], budget=budget)  # pyright: ignore[reportArgumentType]
        )
        busy = asyncio.ensure_future(machine.busy.wait())
        await asyncio.wait({busy, measuring}, return_when=asyncio.FIRST_COMPLETED)
        if end == "interrupt":
            session.interrupt()
        report = await measuring
        runs = await session.journal.read(lambda store: store.runs())
        begun = busy.done()
        busy.cancel()
    document = report.document()
    assert (document["ended_by"], model.times) == (end, 0)
    # On a machine that is slow enough the time is over before the first reference is run.
    assert machine.ended > 0 or (end == "budget" and not begun)
    assert [run.ended_by for run in runs] == [end]
    if end == "budget":
        assert "--budget-seconds" in document["message"]


@pytest.mark.usefixtures("checked")
async def test_whoever_watches_sees_the_references_go_by() -> None:
    rows = [{"id": f"q{n}", "input": f"What {n}?", "target": "41"} for n in range(3)]
    given = user_task(scorer=Graded(), name="own")(lambda: rows)  # pyright: ignore[reportArgumentType]
    seen: list[tuple[bool, int, int]] = []
    async with scripted_session(Asked(), sandbox=Echoing()) as session:
        await evaluate(
            session, ["single"], given, models=["m"], watch=lambda now: seen.append((now.checking, now.done, now.total))
        )
    assert seen == [*((True, n, 3) for n in (1, 2, 3)), *((False, n, 3) for n in (1, 2, 3))]
