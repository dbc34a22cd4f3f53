"""The manager's part of ManagerWorker: what it is asked, and what becomes of whatever it says."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from treadle.testing.stage import Stage, stage
from treadle.workflows.manager_worker.manager import (
    OUTPUT_LIMIT,
    PATCH_LIMIT,
    REPORT_LIMIT,
    Explorations,
    Manager,
    Report,
    Review,
)
from treadle.workspaces.base import LeftOut, Patch, Tested

MANAGER = Manager("<issue>\nempty lists fail\n</issue>")
PATCH = Patch(b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n")


@asynccontextmanager
async def boss(*replies: str) -> AsyncGenerator[Stage]:
    """A stage on which the manager says one text after another."""
    left = list(replies)
    async with stage(lambda request: left.pop(0)) as on:
        yield on


def sent(on: Stage, place: int = 0) -> str:
    """Everything that the manager was sent in one of its calls."""
    return "\n".join(message.content for message in on.requests[place].messages)


async def test_tasks_of_the_analysis_are_explored_in_their_order() -> None:
    async with boss("1. **TASK:** read a.py\n2. TASK: read b.py") as on:
        assert await MANAGER.analyse(on.run) == Explorations(("read a.py", "read b.py"))
        assert "empty lists fail" in sent(on)
        assert on.requests[0].tools == ()


async def test_more_than_three_tasks_are_cut_and_noted() -> None:
    async with boss("\n".join(f"TASK: read {name}.py" for name in "abcde")) as on:
        found = await MANAGER.analyse(on.run)
        assert found.tasks == ("read a.py", "read b.py", "read c.py")
        assert "5 tasks" in on.notes("cut")[0]["reason"]


async def test_without_a_task_it_is_asked_once_more() -> None:
    async with boss("Let us look around.", "TASK: read a.py") as on:
        assert (await MANAGER.analyse(on.run)).tasks == ("read a.py",)
        assert on.requests[1].messages[-2].content == "Let us look around."


@pytest.mark.parametrize("reply", ["", "Ich schlage vor, den Fehler zu suchen.", "```\nprint('TASK')\n```"])
async def test_without_a_task_twice_one_exploration_is_made_by_default(reply: str) -> None:
    async with boss(reply, reply) as on:
        found = await MANAGER.analyse(on.run)
        assert len(found.tasks) == 1
        assert "files, functions and lines" in found.tasks[0]
        assert on.calls == 2
        assert on.notes("fallback")


async def test_ready_ends_exploration_even_beside_tasks() -> None:
    async with boss("TASK: read c.py\n**READY**") as on:
        assert await MANAGER.explore_more([Report("read a.py", "it is empty")], on.run) == Explorations(ready=True)


async def test_neither_word_twice_goes_on_to_the_plan() -> None:
    async with boss("Looks good.", "Indeed.") as on:
        assert (await MANAGER.explore_more([Report("t", "r")], on.run)).ready
        assert on.notes("fallback")


async def test_reports_are_cut_before_the_strong_model_reads_them() -> None:
    async with boss("the plan") as on:
        await MANAGER.plan([Report("read a.py", "x" * 50_000)], on.run)
        assert sent(on).count("x") < REPORT_LIMIT + 100
        assert f"{50_000 - REPORT_LIMIT:,} characters left out" in sent(on)


async def test_a_plan_comes_without_thoughts() -> None:
    async with boss("<think>hm</think>\nChange a.py.") as on:
        assert await MANAGER.plan([], on.run) == "Change a.py."


@pytest.mark.parametrize(
    ("reply", "review"),
    [
        ("APPROVE", Review("APPROVE")),
        ("**APPROVE** – fine", Review("APPROVE")),
        ("```\nAPPROVE\n```", Review("APPROVE")),
        ("REVISE\nIn a.py return [].", Review("REVISE", "In a.py return [].")),
        ("- **REVISE:** return [] in a.py\nand test it", Review("REVISE", "return [] in a.py\nand test it")),
        ("It is wrong.\nREVISE", Review("REVISE", "It is wrong.")),
        ("REVISE\nx\nAPPROVE", Review("REVISE", "x\nAPPROVE")),
    ],
)
async def test_the_first_line_that_begins_with_a_word_is_the_verdict(reply: str, review: Review) -> None:
    async with boss(reply) as on:
        assert await MANAGER.review("the plan", PATCH, None, on.run) == review
        assert "+y" in sent(on)


async def test_a_review_that_wants_changes_and_names_none_is_asked_for_them() -> None:
    async with boss("**REVISE**", "In a.py return [].") as on:
        assert await MANAGER.review("", PATCH, None, on.run) == Review("REVISE", "In a.py return [].")
    for nothing in ("", "REVISE", "**APPROVE**"):
        async with boss("REVISE", nothing) as on:
            assert await MANAGER.review("", PATCH, None, on.run) == Review("REVISE", "")
            assert on.notes("fallback")


async def test_a_review_is_asked_again_once_whatever_it_lacks() -> None:
    async with boss("In a.py return [].", "REVISE") as on:
        assert await MANAGER.review("", PATCH, None, on.run) == Review("REVISE", "In a.py return [].")
        assert on.calls == 2


async def test_a_plan_that_is_empty_is_asked_for_once_more() -> None:
    async with boss("<think>hm</think>", "Change a.py.") as on:
        assert await MANAGER.plan([], on.run) == "Change a.py."
    async with boss("", "  ") as on:
        assert await MANAGER.plan([], on.run) == ""
        assert on.notes("fallback")


async def test_what_a_binary_file_holds_is_not_read_by_the_manager() -> None:
    binary = b"diff --git a/x b/x\nindex 0..1\nGIT binary patch\nliteral 3\nKcmb1\n\nliteral 0\nHcmV?d00001\n\n"
    async with boss("APPROVE") as on:
        await MANAGER.review("", Patch(binary + PATCH.content), None, on.run)
        assert "Kcmb1" not in sent(on)
        assert "HcmV" not in sent(on)
        assert "diff --git a/x b/x" in sent(on)
        assert "+y" in sent(on)


async def test_a_review_without_a_verdict_is_asked_again_and_then_revises() -> None:
    async with boss("Looks good to me.", "It does.") as on:
        review = await MANAGER.review("", PATCH, None, on.run)
        assert review == Review("REVISE", "It does.")
        assert on.calls == 2
        assert on.notes("fallback")
    async with boss("APPROVE or REVISE?", "APPROVE") as on:
        assert await MANAGER.review("", PATCH, None, on.run) == Review("APPROVE")


async def test_a_review_gets_the_test_outcome_as_a_fact_and_what_was_left_out() -> None:
    patch = Patch(PATCH.content, (), (LeftOut("tests/test_a.py", "a test file"),))
    tested = Tested(passed=False, output="y" * 9_000 + "E assert 1 == 2", reason="exit code 1")
    async with boss("REVISE\nx") as on:
        await MANAGER.review("", patch, tested, on.run)
        text = sent(on)
    assert "did not pass" in text
    assert "E assert 1 == 2" in text
    assert text.count("y") < OUTPUT_LIMIT + 200
    assert "tests/test_a.py: a test file" in text


async def test_a_huge_patch_is_cut_for_the_manager_only() -> None:
    patch = Patch(PATCH.content + b"+zzzzzzzzz\n" * 9_000)
    async with boss("APPROVE") as on:
        await MANAGER.review("", patch, None, on.run)
        assert sent(on).count("z") < PATCH_LIMIT
    assert len(patch.content) > 90_000
