"""ManagerWorker on small repositories: phases, rounds, modes, and what becomes of models that misbehave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from repair_stage import FIX, ISSUE, WRONG, applied, git, made, manager, play, played, worker

from treadle.agents.tool_worker import ToolWorker
from treadle.errors import Caution, ProviderError, SampleBudgetError, UserError
from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.models.scripted import Scripted
from treadle.testing.sessions import new_scope, scripted_session
from treadle.workflows.manager_worker.course import Course
from treadle.workflows.manager_worker.workflow import MODES, ManagerWorker, Mode, Repairer
from treadle.workspaces.base import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a defect and a test file."""
    return made(tmp_path)


async def test_the_whole_way_from_an_issue_to_an_approved_patch(repository: Repository) -> None:
    on = await played(repository, manager(), worker())
    assert on.rows() == [
        ("analysis", 1, "", None),
        ("exploration", 1, "", None),
        ("plan", 1, "", None),
        ("implementation", 1, "guided", "patched"),
        ("review", 1, "guided", "APPROVE"),
    ]
    assert on.course.reviewed
    assert on.course.tested is not None
    assert on.course.tested.passed
    assert applied(repository, on.answer) == "def double(x):\n    return 2 * x\n"
    assert git(repository.path, "status", "--porcelain") == ""
    assert all(request.tools == () for request in on.requests["big"])


async def test_the_manager_reads_reports_then_the_patch_and_the_test_as_a_fact(repository: Repository) -> None:
    on = await played(repository, manager(), worker())
    assert "calc.py line 2: return x + 1" in on.told("big", 1)
    assert "The test command passed" in on.told("big")
    assert "+    return 2 * x" in on.told("big")
    assert "I changed calc.py" not in on.told("big")


async def test_rounds_after_the_first_are_strict_and_begin_where_the_last_one_ended(repository: Repository) -> None:
    on = await played(
        repository,
        manager("REVISE\nWrite 2 * x.", "APPROVE"),
        worker(WRONG, "```bash\nsed -i 's/x + 3/2 * x/' calc.py\n```"),
    )
    assert on.rows()[3:] == [
        ("implementation", 1, "guided", "patched"),
        ("review", 1, "guided", "REVISE"),
        ("implementation", 2, "strict", "patched"),
        ("review", 2, "strict", "APPROVE"),
    ]
    second = next(request for request in on.requests["small"] if "Write 2 * x." in request.messages[1].content)
    assert "Apply exactly these instructions" in second.messages[1].content
    assert "+    return x + 3" in second.messages[1].content
    assert "2 * x" in on.answer
    assert "x + 3" not in on.answer


async def test_a_strict_round_from_clean_begins_with_the_files_of_the_start(repository: Repository) -> None:
    on = await played(repository, manager("REVISE\nWrite 2 * x.", "APPROVE"), worker(WRONG, FIX), strict_from="clean")
    assert on.course.reviewed
    assert "2 * x" in on.answer
    assert on.stage.notes("reset")


@pytest.mark.parametrize(
    ("strategy", "modes"),
    [("guided-strict", ["guided", "strict"]), ("strict", ["strict", "strict"]), ("guided", ["guided", "guided"])],
)
async def test_a_strategy_says_how_the_worker_is_told(repository: Repository, strategy: str, modes: list[str]) -> None:
    big = manager("REVISE\nWrite 2 * x.", "APPROVE")
    on = await played(repository, big, worker(WRONG, FIX), strategy=strategy, strict_from="clean")
    assert [row.mode for row in on.course.rows if row.phase == "implementation"][:2] == modes


@pytest.mark.parametrize("mode", MODES)
async def test_every_mode_ends_with_the_fix(repository: Repository, mode: Mode) -> None:
    def small(request: Request) -> Scripted:
        alone = request.messages[0].content.startswith("You direct")
        return manager()(request) if alone else worker()(request)

    def big(request: Request) -> Scripted:
        return worker()(request) if mode == "strong" else manager()(request)

    on = await played(repository, big, small, mode=mode)
    assert applied(repository, on.answer) == "def double(x):\n    return 2 * x\n"
    roles = {role for row in on.course.rows for role in row.spent}
    assert roles == {"strong": {"manager"}, "weak": {"worker"}}.get(mode, {"manager", "worker"})
    assert bool(on.requests["big"]) == (mode in ("full", "simple-loop", "strong"))
    explored = "exploration" in {row.phase for row in on.course.rows}
    assert explored == (mode in ("full", "weak-weak"))


async def test_a_worker_that_only_narrates_is_asked_to_edit_now(repository: Repository) -> None:
    on = await played(repository, manager(), worker("I would change calc.py.", FIX))
    assert on.course.reviewed
    assert any("edited no file" in request.messages[1].content for request in on.requests["small"])


async def test_nothing_but_narration_ends_without_a_patch_and_without_a_review(repository: Repository) -> None:
    lie = "Done! Here is the diff:\n```diff\n-    return x + 1\n+    return 2 * x\n```\nAll tests pass."
    on = await played(repository, manager(), worker(lie))
    assert on.answer == ""
    assert [row.patch for row in on.course.rows if row.phase == "implementation"] == ["empty"] * 3
    assert "review" not in {row.phase for row in on.course.rows}
    assert on.course.tested is None


async def test_tests_that_are_edited_to_pass_are_no_part_of_it(repository: Repository) -> None:
    cheat = (
        "```bash\necho 'def test_it(): pass' > tests/test_calc.py; echo 'import sys; sys.exit(0)' > conftest.py\n```"
    )
    on = await played(repository, manager(), worker(cheat))
    assert on.answer == ""


async def test_a_claim_of_success_is_no_success(repository: Repository) -> None:
    on = await played(repository, manager("REVISE\nno"), worker(WRONG))
    assert on.course.tested is not None
    assert not on.course.tested.passed
    assert not on.course.reviewed
    assert "x + 3" in on.answer


async def test_what_is_written_outside_is_refused(repository: Repository) -> None:
    outside = f"```bash\necho x > {repository.path.parent}/outside.txt; echo x > /usr/outside.txt; {FIX[8:-4]}\n```"
    on = await played(repository, manager(), worker(outside))
    assert not (repository.path.parent / "outside.txt").exists()
    assert on.course.reviewed


async def test_the_same_patch_again_is_not_reviewed_again(repository: Repository) -> None:
    on = await played(repository, manager("REVISE\nno"), worker(WRONG, "```bash\ntrue\n```"))
    assert [row[0] for row in on.rows()[3:]] == ["implementation", "review", "implementation", "implementation"]
    assert on.course.rows[-1].patch == "unchanged"


async def test_the_last_patch_that_was_not_empty_is_the_answer(repository: Repository) -> None:
    undo = "```bash\ngit checkout -q calc.py\n```"
    on = await played(repository, manager("REVISE\nno"), worker(FIX, undo, undo))
    assert "2 * x" in on.answer
    assert on.course.rows[-1].patch == "empty"


async def test_a_plan_can_be_edited_before_anything_is_implemented(repository: Repository) -> None:
    class Editor(Course):
        async def approve_plan(self, plan: str) -> str:
            return plan + " And say why."

    async with play(repository, manager(), worker()) as (on, _):
        course = Editor()
        repairer = Repairer(ManagerWorker(), ToolWorker(), course)
        await repairer(Problem(ISSUE, workspace=repository), Run(on.stage.scope))
    assert course.plan.endswith("And say why.")
    assert any("And say why." in request.messages[1].content for request in on.requests["small"])


async def test_the_patch_is_kept_when_the_manager_fails(repository: Repository) -> None:
    def big(request: Request) -> Scripted:
        if "APPROVE" in request.messages[-1].content:
            raise ProviderError("gone")
        return manager()(request)

    async with play(repository, big, worker()) as (on, act):
        with pytest.raises(ProviderError):
            await act()
    assert "2 * x" in on.course.patch.text
    assert on.course.rows[-1].remark == "ended early: gone"


async def test_the_patch_is_kept_when_the_worker_fails_in_the_middle(repository: Repository) -> None:
    def small(request: Request) -> Scripted:
        if request.messages[-1].content.startswith("["):
            raise ProviderError("gone")
        return worker()(request)

    async with play(repository, manager(), small) as (on, act):
        with pytest.raises(ProviderError):
            await act()
    assert "2 * x" in on.course.patch.text
    assert on.course.tested is not None


async def test_a_cap_reached_with_a_patch_answers_with_it(repository: Repository) -> None:
    on = await played(repository, manager(), worker(), caps=Budget(calls=8))
    assert "2 * x" in on.answer
    async with play(repository, manager(), worker(), caps=Budget(calls=2)) as (_, act):
        with pytest.raises(SampleBudgetError):
            await act()


async def test_one_model_in_both_roles_is_warned_of(repository: Repository) -> None:
    async with scripted_session({"m": lambda request: "x"}) as session:
        session.settings = replace(session.settings, folder=repository.path.parent)
        recording = await session.record("stage", cast=Cast(("m",)))
        repairer = Repairer(ManagerWorker(rounds=1, explorations=0), ToolWorker(), Course())
        with pytest.warns(Caution, match="without a gap in ability"):
            await repairer(Problem(ISSUE, workspace=repository), Run(new_scope(recording)))


@pytest.mark.parametrize("explorations", [0, 1])
async def test_the_bounds_of_calls_hold_at_both_ends(repository: Repository, explorations: int) -> None:
    def ready(request: Request) -> Scripted:
        return "READY" if "two or three tasks" in request.messages[-1].content else manager()(request)

    def vague(request: Request) -> Scripted:
        return "Hm." if "Judge the patch" in request.messages[-1].content else ""

    limits: dict[str, Any] = {"explorations": explorations, "rounds": 2, "steps": 1, "explore_steps": 1}
    settings = ManagerWorker(**limits)
    ends = [(ready, worker(FIX)), (vague, worker(WRONG, "```bash\necho '# x' >> calc.py\n```"))]
    made = [await played(repository, big, small, **limits) for big, small in ends]
    asked = [{"manager": len(on.requests["big"]), "worker": len(on.requests["small"])} for on in made]
    assert sum(asked[0].values()) == settings.calls.low == 3 + explorations
    for role, calls in settings.calls_by_role:
        assert calls.high is not None
        assert all(calls.low <= each[role] <= calls.high for each in asked)
    assert asked[1]["manager"] == 2 * (1 + explorations) + 2 * 2


async def test_a_question_without_a_repository_is_refused(repository: Repository) -> None:
    async with play(repository, manager(), worker()) as (on, _):
        with pytest.raises(UserError, match="treadle fix"):
            await ManagerWorker()(Problem(ISSUE), Run(on.stage.scope))


async def test_nothing_is_left_of_the_copies(repository: Repository) -> None:
    await played(repository, manager(), worker())
    runs = repository.path.parent / ".treadle" / "runs"
    assert [path for path in runs.rglob("*") if path.is_file()] == []
