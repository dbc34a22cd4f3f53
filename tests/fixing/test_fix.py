"""`treadle.fix` as a program calls it, and what is kept whatever ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import treadle
from treadle.agents.base import Assignment, WorkReport
from treadle.errors import UserError
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.testing.sessions import scripted_session
from treadle.workflows.manager_worker.course import Course, PhaseRow
from treadle.workflows.manager_worker.workflow import ManagerWorker
from treadle.workspaces.base import Repository
from treadle.workspaces.workspace import Workspace

ISSUE = "double(2) must give 4"
WAITING = '''\
import sys


def reply(request):
    """Edits the file, and then never answers again."""
    if request.messages[-1].content.startswith("["):
        print("the file was edited", file=sys.stderr, flush=True)
        return {"text": "", "delay_s": 600}
    return "```bash\\nsed -i 's/x + 1/2 * x/' calc.py\\n```"
'''


class Fixer:
    """A worker that asks nobody much."""

    name = "fixer"

    async def work(self, assignment: Assignment, workspace: Workspace, run: Run) -> WorkReport:
        """Do it."""
        await run.ask("may I?", role=assignment.role)
        await workspace.shell("sed -i 's/x + 1/2 * x/' calc.py", run)
        return WorkReport("done")


def content_of(file: str) -> bytes:
    """What a file holds."""
    return Path(file).read_bytes()


async def test_a_program_gets_the_patch_and_what_it_cost(repo: Path) -> None:
    rows: list[PhaseRow] = []

    class Watching(Course):
        def end(self, row: PhaseRow) -> None:
            super().end(row)
            rows.append(row)

    async with scripted_session({"m": lambda request: "yes"}) as session:
        report = await treadle.fix(
            Repository(repo, test="grep -q '2 [*] x' calc.py"),
            ISSUE,
            session=session,
            settings=ManagerWorker(mode="weak"),
            worker=Fixer(),
            models=["m"],
            course=Watching(),
        )
    assert (report.status, report.resolved, report.approved) == ("patched", True, False)
    assert report.patch_file is not None
    assert content_of(report.patch_file) == report.patch.content
    assert [row.phase for row in rows] == ["implementation"]
    assert report.spent()["worker"].calls == 1
    assert any("no git repository" in remark for remark in report.remarks)
    assert report.strong is None
    assert (repo / "calc.py").read_text().endswith("x + 1\n")


async def test_a_folder_that_is_not_there_is_refused_before_anything_is_asked(repo: Path) -> None:
    asked: list[Request] = []

    def reply(request: Request) -> str:
        asked.append(request)
        return "x"

    async with scripted_session(reply) as session:
        with pytest.raises(UserError, match="does not exist"):
            await treadle.fix(repo / "no", ISSUE, session=session)
    assert asked == []


def waits_for(process: subprocess.Popen[str], words: str) -> None:
    """Read what a process says until it says some words."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended without saying {words!r}")


@pytest.fixture
def begun(repo: Path) -> Callable[[], subprocess.Popen[str]]:
    """Starts ``treadle fix`` in a process of its own, with a worker that edits and then never answers."""
    (repo.parent / "waits.py").write_text(WAITING)
    (repo.parent / "treadle.toml").write_text('[models.m]\nmodel = "scripted:waits.py"\n')
    (repo.parent / "issue.md").write_text(ISSUE)

    def begin() -> subprocess.Popen[str]:
        words = ["fix", "--repo", "repo", "--issue", "issue.md", "--mode", "weak", "--model", "m", "--json"]
        return subprocess.Popen(
            [sys.executable, "-m", "treadle", *words],
            cwd=repo.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    return begin


def test_ctrl_c_keeps_the_patch_that_there_is(begun: Callable[[], subprocess.Popen[str]], repo: Path) -> None:
    process = begun()
    waits_for(process, "the file was edited")
    process.send_signal(signal.SIGINT)
    told = time.monotonic()
    out, _ = process.communicate(timeout=30)
    assert time.monotonic() - told < 3.0
    document = json.loads(out)
    assert (process.returncode, document["ended_by"], document["status"]) == (130, "interrupt", "patched")
    assert "+    return 2 * x" in Path(document["patch_file"]).read_text()
    assert (repo / "calc.py").read_text().endswith("x + 1\n")


def test_a_killed_process_leaves_its_steps(begun: Callable[[], subprocess.Popen[str]], repo: Path) -> None:
    process = begun()
    waits_for(process, "the file was edited")
    process.kill()
    process.communicate()
    found = subprocess.run(
        [sys.executable, "-m", "treadle", "runs", "--json"], cwd=repo.parent, capture_output=True, text=True, check=True
    )
    run = json.loads(found.stdout)[0]["run"]
    shown = subprocess.run(
        [sys.executable, "-m", "treadle", "trace", run, "--json"],
        cwd=repo.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    (sample,) = json.loads(shown.stdout)["samples"]
    assert sample["status"] == "unfinished"
    assert sample["trace"][0]["action"] == "sed -i 's/x + 1/2 * x/' calc.py"
