"""ManagerWorker in the sandbox ``none``, which keeps nobody from writing and shows no copy elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from repair_stage import FIX, TEST, made, manager, played, worker

from treadle.errors import Caution
from treadle.models.base import Request
from treadle.models.scripted import Scripted

pytestmark = pytest.mark.filterwarnings(f"ignore::{Caution.__module__}.{Caution.__name__}")


async def test_explorers_cannot_spoil_the_files_for_one_another_or_for_the_worker(tmp_path: Path) -> None:
    seen: list[str] = []

    def small(request: Request) -> Scripted:
        asked, last = request.messages[1].content, request.messages[-1].content
        if "Answer with a report" not in asked:
            return worker()(request)
        if len(request.messages) == 2:
            return "```bash\ncat calc.py; ls; echo spoilt > calc.py; touch mine\n```"
        seen.append(last)
        return "calc.py line 2"

    on = await played(made(tmp_path), manager(), small, sandbox="none")
    assert len(seen) == 2
    assert all("x + 1" in each and "mine" not in each for each in seen)
    assert on.answer.count("diff --git") == 1
    assert "spoilt" not in on.answer
    assert on.course.tested is not None
    assert on.course.tested.passed


async def test_a_test_of_the_original_says_nothing_of_a_patch(tmp_path: Path) -> None:
    repository = made(tmp_path)
    for test in (f"cd {repository.path} && {TEST}", f"cd {repository.path} && ! {TEST}"):
        on = await played(replace(repository, test=test), manager(), worker(FIX), sandbox="none")
        assert "2 * x" in on.answer
        assert on.course.tested is None
        assert any("the test command is not run" in each for each in on.course.remarks)
        assert "test command" not in on.told("big")
