"""What a repair never says without ground, and never loses."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from repair_stage import FIX, ISSUE, WRONG, applied, git, made, manager, play, played, worker

from treadle.agents.base import Assignment, WorkReport
from treadle.agents.tool_worker import ToolWorker
from treadle.errors import Caution
from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import ModelIdentity, Request
from treadle.models.scripted import Scripted, ScriptedModel
from treadle.testing.sessions import new_scope, scripted_session
from treadle.workflows.manager_worker.course import Course
from treadle.workflows.manager_worker.workflow import ManagerWorker, Repairer
from treadle.workspaces.base import Repository
from treadle.workspaces.checkout import Checkout
from treadle.workspaces.workspace import Workspace

PYTEST = "python3 -m pytest -q -p no:cacheprovider tests"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a defect and a test file."""
    return made(tmp_path)


@pytest.fixture
def failing(repository: Repository) -> Repository:
    """The same, with a test that finds the defect."""
    test = "from calc import double\n\n\ndef test_it():\n    assert double(2) == 4\n"
    (repository.path / "tests" / "test_calc.py").write_text(test)
    return replace(repository, test=PYTEST)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("printf '[pytest]\\naddopts = --co\\n' > pytest.ini", "pytest.ini"),
        ("printf '[tool.pytest.ini_options]\\naddopts = \"--co\"\\n' > pyproject.toml", "pyproject.toml"),
        ("echo 'raise SystemExit(0)' > pytest.py", "pytest.py"),
    ],
)
async def test_no_patch_decides_by_what_steers_tests_what_they_say(
    failing: Repository, command: str, file: str
) -> None:
    cheat = f"```bash\n{command}; echo '# x' >> calc.py\n```"
    on = await played(failing, manager("REVISE\nno"), worker(cheat), rounds=1)
    assert on.course.tested is not None
    assert not on.course.tested.passed
    assert on.course.tested.steering == (file,)
    assert file in on.course.tested.reason
    assert "files that steer tests" in on.told("big")


async def test_a_fix_that_also_changes_what_steers_tests_may_pass(failing: Repository) -> None:
    honest = FIX.replace("calc.py\n```", "calc.py; printf '[pytest]\\n' > pytest.ini\n```")
    on = await played(failing, manager(), worker(honest))
    assert on.course.tested is not None
    assert on.course.tested.passed
    assert on.course.tested.steering == ("pytest.ini",)


async def test_corrections_that_are_not_there_leave_the_plan_in_force(repository: Repository) -> None:
    boss = manager("REVISE", "APPROVE")

    def terse(request: Request) -> Scripted:
        return "" if "corrections only" in request.messages[-1].content else boss(request)

    on = await played(repository, terse, worker(WRONG, FIX), strict_from="clean")
    second = next(each for each in on.requests["small"] if "Apply exactly" in each.messages[1].content)
    assert "In calc.py double must return 2 * x." in second.messages[1].content
    assert "REVISE" not in second.messages[1].content
    assert "no corrections" in next(row for row in on.course.rows if row.phase == "review").remark


async def test_who_edits_only_what_is_left_out_is_told_so(repository: Repository) -> None:
    tests_only = "```bash\necho '# x' >> tests/test_calc.py\n```"
    on = await played(repository, manager(), worker(tests_only), rounds=1)
    assert on.answer == ""
    asked = [each.messages[1].content for each in on.requests["small"]]
    assert any("tests/test_calc.py (test files are left out)" in text for text in asked)
    assert "tests/test_calc.py" in on.course.rows[-1].remark


async def test_who_undid_a_change_is_not_told_that_it_is_there(repository: Repository) -> None:
    undo = "```bash\ngit checkout -q calc.py\n```"
    on = await played(repository, manager("REVISE\nno"), worker(FIX, undo, undo, undo, undo))
    third = [each.messages[1].content for each in on.requests["small"]][-1]
    assert "edited no file" in third
    assert "hold your earlier change" not in third


async def test_without_explorations_nobody_is_asked_for_tasks(repository: Repository) -> None:
    on = await played(repository, manager(), worker(), explorations=0)
    assert [row.phase for row in on.course.rows] == ["plan", "implementation", "review"]
    assert len(on.requests["big"]) == 2


async def test_a_round_that_is_cancelled_while_its_patch_is_read_is_kept(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, reading = Checkout.patch, asyncio.Event()
    calls = 0

    async def slow(self: Checkout) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            reading.set()
            await asyncio.Event().wait()
        return await read(self)

    monkeypatch.setattr(Checkout, "patch", slow)
    async with play(repository, manager(), worker(), mode="weak") as (on, act):
        task = asyncio.ensure_future(act())
        await reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert "2 * x" in on.course.patch.text


@pytest.mark.parametrize("same", [True, False])
async def test_the_caution_goes_by_what_a_model_is_and_not_by_its_name(
    repository: Repository, recwarn: pytest.WarningsRecorder, same: bool
) -> None:
    def narrates(request: Request) -> Scripted:
        return "x"

    class Served(ScriptedModel):
        @property
        def identity(self) -> ModelIdentity:
            return replace(super().identity, provider="served")

    models = {"a": Served(narrates, "one"), "b": Served(narrates, "one" if same else "other")}
    async with scripted_session(models) as session:
        session.settings = replace(session.settings, folder=repository.path.parent)
        recording = await session.record("stage", cast=Cast(("a", "b")))
        repairer = Repairer(ManagerWorker(rounds=1, explorations=0), ToolWorker(), Course())
        await repairer(Problem(ISSUE, workspace=repository), Run(new_scope(recording)))
    assert [each.category for each in recwarn if "gap in ability" in str(each.message)] == [Caution] * same


async def test_a_worker_of_ones_own_is_warned_of_nothing(repository: Repository) -> None:
    class Own:
        name = "own"

        async def work(self, assignment: Assignment, workspace: Workspace, run: Run) -> WorkReport:
            await ToolWorker().work(assignment, workspace, run)
            return WorkReport("done")

    async with scripted_session({"m": lambda request: manager()(request)}) as session:
        session.settings = replace(session.settings, folder=repository.path.parent)
        recording = await session.record("stage", cast=Cast(("m",)))
        repairer = Repairer(ManagerWorker(rounds=1, explorations=0), Own(), Course())
        assert await repairer(Problem(ISSUE, workspace=repository), Run(new_scope(recording))) == ""


async def test_a_plan_that_is_not_there_is_said_and_the_issue_counts(repository: Repository) -> None:
    on = await played(repository, manager(plan=""), worker())
    assert [(row.phase, row.mode) for row in on.course.rows[2:]] == [
        ("plan", ""),
        ("implementation", "direct"),
        ("review", "direct"),
    ]
    assert "no plan" in on.course.rows[2].remark
    assert on.stage.notes("fallback")


async def test_a_manager_reads_a_change_of_a_file_that_is_no_utf8(repository: Repository) -> None:
    (repository.path / "calc.py").write_bytes(b"# -*- coding: latin-1 -*- caf\xe9\ndef double(x):\n    return x + 1\n")
    git(repository.path, "commit", "-qam", "latin-1")
    on = await played(repository, manager("REVISE\nAgain.", "APPROVE"), worker(FIX, FIX))
    assert "+    return 2 * x" in on.told("big")
    assert "GIT binary patch" not in on.told("big")
    strict = next(each for each in on.requests["small"] if "Apply exactly" in each.messages[1].content)
    assert "+    return 2 * x" in strict.messages[1].content
    assert "2 * x" in applied(repository, on.answer)
