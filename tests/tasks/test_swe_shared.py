"""Real instances beside the checkout, with repositories laid out for them: each is valid, and graded fast."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from treadle.config import SandboxSettings
from treadle.ledger.shared_sandbox import SharedSandbox, limits_of
from treadle.tasks.gold import check_gold
from treadle.tasks.open import open_task
from treadle.tasks.task import Task
from treadle.testing.sessions import recording_run

pytestmark = pytest.mark.shared
REPOSITORIES = "TREADLE_SWE_REPOS"


@pytest.fixture
def task(shared_data: Path) -> Task:
    rows, repositories = shared_data.parent / "swe", os.environ.get(REPOSITORIES)
    if not repositories or not rows.is_dir():
        pytest.skip(f"{REPOSITORIES} names no folder with repositories, or no rows are beside this checkout")
    return open_task(f"swe:{rows}?repos={repositories}", folder=Path.cwd())


async def test_every_instance_is_valid(task: Task) -> None:
    sandbox = SharedSandbox("auto", limits_of(SandboxSettings()))
    try:
        await sandbox.open()
        report = await check_gold(task, sandbox)
    finally:
        await sandbox.aclose()
    assert (report.checked, report.bad) == (5, ())


async def test_another_instances_fix_resolves_none(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = task.samples[:2]
    assert first.fields["repo"] == second.fields["repo"]
    async with recording_run(lambda request: "") as (run, _):
        assert (await task.scorer.score(first, second.target, run)).value == 0.0
        begun = time.monotonic()
        assert (await task.scorer.score(second, second.target, run)).value == 1.0
        assert time.monotonic() - begun < 20
