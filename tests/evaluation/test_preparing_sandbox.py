"""Where programs will be run, a sandbox is there before anything is spent, and tells good programs from bad."""

from __future__ import annotations

from typing import Any

import pytest

from treadle.cli.keyless import KeylessSession
from treadle.config import Settings
from treadle.errors import DatasetError, SandboxError
from treadle.evaluation.ask import ask
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.preparing import prepare_sandbox, prepare_task
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.models.base import Request
from treadle.sandbox.base import ExecResult, Limits, Program, Sandbox, Traits
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
