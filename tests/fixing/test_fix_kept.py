"""A patch that was paid for is kept, whatever ends the work or cannot be written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import treadle
from treadle.agents.base import Assignment, WorkReport
from treadle.errors import EndpointError, UnknownNameError, UserError
from treadle.fixing.keeping import check_output
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.testing.sessions import scripted_session
from treadle.workflows.manager_worker.workflow import ManagerWorker
from treadle.workspaces.base import Repository
from treadle.workspaces.workspace import Workspace

ISSUE = "double(2) must give 4"


@dataclass
class Editing:
    """A worker that edits, and then does something else."""

    then: Callable[[], object]
    name: str = "editing"

    async def work(self, assignment: Assignment, workspace: Workspace, run: Run) -> WorkReport:
        """Do it."""
        await workspace.shell("sed -i 's/x + 1/2 * x/' calc.py", run)
        done = self.then()
        if isinstance(done, asyncio.Future):
            await done
        return WorkReport("done")


def raising(error: Exception) -> Callable[[], object]:
    """What raises."""

    def then() -> object:
        raise error

    return then


def kept(repo: Path) -> Path:
    """The only patch in a run's folder."""
    (file,) = (repo.parent / ".treadle" / "runs").glob("*/fix.patch")
    return file


@pytest.mark.parametrize(
    "error", [UserError("mend it"), EndpointError("no key"), UnknownNameError("model", "x", ["y"])]
)
async def test_a_mistake_after_an_edit_leaves_the_patch_and_names_it(repo: Path, error: UserError) -> None:
    said = str(error)
    async with scripted_session(lambda request: "APPROVE") as session:
        with pytest.raises(type(error)) as raised:
            await treadle.fix(
                repo, ISSUE, session=session, settings=ManagerWorker(mode="weak"), worker=Editing(raising(error))
            )
    assert str(raised.value) == f"{said}; the patch that there was by then is in {kept(repo)}"
    assert "+    return 2 * x" in kept(repo).read_text()


async def test_a_manager_who_cannot_be_asked_leaves_the_patch(repo: Path) -> None:
    nobody = 'model = "openai:{0}"\nbase_url = "http://127.0.0.1:9/v1"\n'
    (repo.parent / "treadle.toml").write_text(
        f"[models.m]\n{nobody.format('m')}[models.w]\n{nobody.format('w')}[roles]\nstrong = 'm'\nweak = 'w'\n"
    )
    with pytest.raises(EndpointError) as raised:
        await treadle.fix(repo, ISSUE, settings=ManagerWorker(mode="simple-loop"), worker=Editing(lambda: None))
    assert str(kept(repo)) in str(raised.value)
    assert "+    return 2 * x" in kept(repo).read_text()


async def test_whoever_gives_up_waiting_finds_the_patch(repo: Path) -> None:
    edited = asyncio.Event()
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def then() -> object:
        edited.set()
        return never

    async with scripted_session(lambda request: "APPROVE") as session:
        work = asyncio.ensure_future(
            treadle.fix(repo, ISSUE, session=session, settings=ManagerWorker(mode="weak"), worker=Editing(then))
        )
        await edited.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    assert "+    return 2 * x" in kept(repo).read_text()


async def test_whoever_will_be_asked_is_known_before_anything_is_paid(repo: Path) -> None:
    asked: list[Request] = []

    def reply(request: Request) -> str:
        asked.append(request)
        return "```bash\nsed -i 's/x + 1/2 * x/' calc.py\n```"

    async with scripted_session({"m": reply}) as session:
        with pytest.raises(UserError, match="OPENAI_API_KEY"):
            await treadle.fix(
                Repository(repo),
                ISSUE,
                session=session,
                models=["m"],
                roles={"manager": "openai:x"},
                settings=ManagerWorker(mode="simple-loop"),
            )
    assert asked == []


async def test_a_file_that_cannot_be_written_is_refused_before_anything_is_asked(repo: Path) -> None:
    edited: list[bool] = []
    async with scripted_session(lambda request: "APPROVE") as session:
        with pytest.raises(UserError, match="holds no patch"):
            await treadle.fix(
                repo,
                ISSUE,
                session=session,
                settings=ManagerWorker(mode="weak"),
                worker=Editing(lambda: edited.append(True)),
                output=repo / "calc.py",
            )
    assert edited == []


async def test_a_file_that_cannot_be_written_in_the_end_leaves_the_other(repo: Path) -> None:
    folder = repo.parent / "later"
    folder.mkdir()
    async with scripted_session(lambda request: "APPROVE") as session:
        with pytest.raises(UserError, match="cannot be written") as raised:
            await treadle.fix(
                repo,
                ISSUE,
                session=session,
                settings=ManagerWorker(mode="weak"),
                worker=Editing(folder.rmdir),
                output=folder / "out.patch",
            )
        records = await session.journal.read(lambda store: store.runs(1))
    assert str(kept(repo)) in str(raised.value)
    assert records[0].ended_by == "done"


async def test_a_runs_folder_that_cannot_be_written_is_a_remark(repo: Path) -> None:
    def block() -> None:
        (folder,) = (repo.parent / ".treadle" / "runs").iterdir()
        (folder / "fix.patch").mkdir()

    async with scripted_session(lambda request: "APPROVE") as session:
        report = await treadle.fix(
            repo, ISSUE, session=session, settings=ManagerWorker(mode="weak"), worker=Editing(block)
        )
    assert (report.status, report.patch_file) == ("patched", None)
    assert "the patch cannot be written to" in report.remarks[-1]
    assert "+    return 2 * x" in report.document()["patch"]


def test_looking_whether_a_file_can_be_written_leaves_it_as_it_is(tmp_path: Path) -> None:
    check_output(tmp_path / "new.patch")
    assert list(tmp_path.iterdir()) == []
    for content in (b"", b"diff --git a/x b/x\n"):
        (tmp_path / "old.patch").write_bytes(content)
        check_output(tmp_path / "old.patch")
        assert (tmp_path / "old.patch").read_bytes() == content
    check_output(Path("/dev/null"))
    check_output(None)
