"""How many tokens of the strong model a fix took, and what they may be held against."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import treadle
from treadle.agents.base import Assignment, WorkReport
from treadle.fixing.report import FixReport, StrongTokens
from treadle.ledger.budget import Budget
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.models.base import Request
from treadle.testing.sessions import scripted_session
from treadle.workflows.manager_worker.workflow import ManagerWorker, Mode
from treadle.workspaces.base import Repository
from treadle.workspaces.workspace import Workspace

ISSUE = "double(2) must give 4"
TEST = "grep -q '2 [*] x' calc.py"
TOKENS = 15
"""Of every call."""


def reply(request: Request) -> dict[str, Any]:
    """Manages where the rules say so, else edits the file once."""
    asked, text = request.messages[-1].content, "```bash\nsed -i 's/x + 1/2 * x/' calc.py\n```"
    if request.messages[0].content.startswith("You direct"):
        text = "APPROVE" if "APPROVE" in asked else "Return 2 * x." if "Write the plan" in asked else "READY"
    elif asked.startswith("["):
        text = "done"
    return {"text": text, "usage": {"input": 10, "output": 5}}


@pytest.fixture
async def session(repo: Path) -> AsyncGenerator[Session]:
    """A session with a strong and a weak model."""
    async with scripted_session({"big": reply, "small": reply}) as opened:
        yield opened


async def fixed(session: Session, repo: Path, mode: Mode, *, test: str = TEST, **more: Any) -> FixReport:
    """A fix in a mode."""
    settings = ManagerWorker(mode=mode)
    more = {"models": ("big", "small")} | more
    return await treadle.fix(Repository(repo, test=test), ISSUE, session=session, settings=settings, **more)


def strong_of(report: FixReport) -> StrongTokens:
    """Its headline figure, which is there."""
    assert report.strong is not None
    return report.strong


@dataclass
class Asking:
    """A worker that asks whom it likes, after its edit."""

    role: str
    name: str = "asking"

    async def work(self, assignment: Assignment, workspace: Workspace, run: Run) -> WorkReport:
        """Do it."""
        await workspace.shell("sed -i 's/x + 1/2 * x/' calc.py", run)
        await run.ask("may I?", role=self.role)
        return WorkReport("done")


@pytest.mark.filterwarnings("ignore:manager and worker are the same:treadle.errors.Caution")
async def test_the_strong_model_is_counted_whatever_it_plays(session: Session, repo: Path) -> None:
    managing = strong_of(await fixed(session, repo, "full"))
    assert managing.here == 3 * TOKENS
    both = strong_of(await fixed(session, repo, "full", models=("big", "big")))
    assert both.here == 5 * TOKENS
    by_roles = strong_of(await fixed(session, repo, "full", models=(), roles={"manager": "big", "worker": "big"}))
    assert by_roles.here == 5 * TOKENS
    managed_by_worker = strong_of(await fixed(session, repo, "weak-weak", models=("big", "big")))
    assert managed_by_worker.here == 5 * TOKENS
    assert strong_of(await fixed(session, repo, "weak-weak")).here == 0
    for role, calls in (("strong", 3), ("worker", 2)):
        asking = strong_of(await fixed(session, repo, "simple-loop", worker=Asking(role), models=("big", "small")))
        assert asking.here == (calls - 1) * TOKENS


async def test_nothing_is_said_where_nobody_strong_is_there(session: Session, repo: Path) -> None:
    assert (await fixed(session, repo, "weak")).strong is None


async def test_it_is_held_against_the_strong_model_alone(session: Session, repo: Path) -> None:
    assert strong_of(await fixed(session, repo, "full")).alone is None
    alone = await fixed(session, repo, "strong")
    assert strong_of(alone).here == 2 * TOKENS
    later = strong_of(await fixed(session, repo, "full"))
    assert (later.here, later.alone, later.share) == (3 * TOKENS, 2 * TOKENS, 1.5)
    assert (later.run, later.resolved) == (alone.run, True)
    assert strong_of(await fixed(session, repo, "full", models=("small", "big"))).alone is None


async def test_what_was_done_on_other_files_or_with_other_commands_says_nothing(session: Session, repo: Path) -> None:
    await fixed(session, repo, "strong")
    assert strong_of(await fixed(session, repo, "full", test="true")).alone is None
    (repo / "more.py").write_text("more = 1\n")
    assert strong_of(await fixed(session, repo, "full")).alone is None
    (repo / "more.py").unlink()
    assert strong_of(await fixed(session, repo, "full")).alone == 2 * TOKENS


async def test_a_fix_that_is_cut_short_claims_nothing(session: Session, repo: Path) -> None:
    await fixed(session, repo, "strong")
    cut = await fixed(session, repo, "full", budget=Budget(calls=4), fresh=1)
    assert (cut.ended_by, cut.status, cut.finished, cut.strong) == ("budget", "patched", False, None)
    capped = await fixed(session, repo, "full", caps=Budget(calls=4), fresh=2)
    assert (capped.ended_by, capped.status, capped.finished, capped.strong) == ("done", "patched", False, None)


async def test_the_strong_model_alone_that_was_cut_short_is_no_measure(session: Session, repo: Path) -> None:
    capped = await fixed(session, repo, "strong", caps=Budget(calls=1))
    assert (capped.ended_by, capped.status, capped.finished) == ("done", "patched", False)
    assert "cap is reached" in capped.message
    assert strong_of(await fixed(session, repo, "full")).alone is None


async def test_a_fix_without_a_patch_claims_nothing(session: Session, repo: Path) -> None:
    await fixed(session, repo, "strong")
    (repo / "calc.py").write_text("def double(x):\n    return x\n")
    empty = await fixed(session, repo, "strong")
    assert (empty.status, empty.strong) == ("empty", None)
    assert (await fixed(session, repo, "full")).strong is None
