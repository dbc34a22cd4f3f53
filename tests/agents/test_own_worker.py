"""Workers of a user's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from treadle.agents.base import Assignment, WorkReport
from treadle.agents.own import own_worker
from treadle.errors import CrashError, RunLimitError, UserError
from treadle.testing.sessions import recording_run
from treadle.workspaces.workspace import Workspace

SOURCE = """
from treadle.errors import RunLimitError
from treadle.agents.base import WorkReport
async def words(assignment, workspace, run): return f"did {assignment.task}"
async def report(assignment, workspace, run): return WorkReport("r", "steps", 7)
async def number(assignment, workspace, run): return 7
async def breaks(assignment, workspace, run): raise SystemExit("no")
async def ends(assignment, workspace, run): raise RunLimitError("usd", "spent")
async def two(assignment, workspace): return ""
def plain(assignment, workspace, run): return ""
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_workers_here.py").write_text(SOURCE)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_workers_here", raising=False)
    return tmp_path


async def done(name: str, folder: Path) -> WorkReport:
    """What comes of an assignment."""
    worker = own_worker(f"own_workers_here:{name}", folder)
    async with recording_run(lambda request: "") as (run, _):
        return await worker.work(Assignment("it"), Workspace(folder, folder), run)


async def test_a_text_is_the_report(folder: Path) -> None:
    assert await done("words", folder) == WorkReport("did it")
    assert await done("report", folder) == WorkReport("r", "steps", 7)


@pytest.mark.parametrize(("name", "words"), [("number", "returned int"), ("breaks", "raised SystemExit: no")])
async def test_what_it_does_wrong_is_a_crash(folder: Path, name: str, words: str) -> None:
    with pytest.raises(CrashError, match=words):
        await done(name, folder)


async def test_the_end_of_the_budget_passes(folder: Path) -> None:
    with pytest.raises(RunLimitError):
        await done("ends", folder)


@pytest.mark.parametrize("name", ["own_workers_here:two", "own_workers_here:plain", "own_workers_here:no", "nothing"])
def test_what_is_no_worker_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(UserError):
        own_worker(name, folder)
