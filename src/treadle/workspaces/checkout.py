"""Copies of a repository for one question: the worker's, a clean one, and one for each trial of a patch."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from treadle.errors import PatchError, UserError
from treadle.ledger.run import Run
from treadle.sandbox.base import ExecResult, Limits
from treadle.sandbox.process import undisturbed
from treadle.workspaces.base import Patch, Repository, Tested
from treadle.workspaces.copying import clone, copy_tree, remove_tree
from treadle.workspaces.git import Git, make_git_directory
from treadle.workspaces.inspection import Contents, inspect
from treadle.workspaces.patch import Start, read_patch
from treadle.workspaces.snapshot import commit, give_history
from treadle.workspaces.tree import Tree, beside, no_git, scan
from treadle.workspaces.trial import Trial
from treadle.workspaces.workspace import Workspace

_FILE_BYTES = 2**30
_OPEN_FILES = 1024
_SHOWN = 8000
"""Characters that are kept of what a test command wrote last."""
_TAIL = 1500
"""Characters of a failed set-up that are shown."""
_PARTS = ("clean", "work", "base.git", "view.git")


@dataclass(slots=True)
class Checkout:
    """A repository's copies; made by `open_checkout`.

    Attributes:
        workspace: The worker's copy, with a git history of one commit.
        remarks: What is special about the repository, in words.
        repository: What it is a copy of.
    """

    workspace: Workspace
    remarks: tuple[str, ...]
    repository: Repository
    _folder: Path
    _start: Start
    _seen: Tree
    _numbers: count[int] = field(default_factory=count)

    async def patch(self) -> Patch:
        """The difference between the worker's copy as it is now and what it was at the start.

        Raises:
            ProviderError: Git failed.
        """
        return await read_patch(self._start, self.workspace.folder, self._seen)

    async def reset(self) -> None:
        """Bring the worker's copy back to what it was at the start: it is thrown away and made again."""
        self._seen = await _fresh(self._start.clean, self.workspace.folder)

    @asynccontextmanager
    async def trial(self, patch: bytes) -> AsyncGenerator[Trial]:
        """A clean copy with a patch applied; it is removed at the end.

        Args:
            patch: What ``git apply`` takes; nothing is applied where it is empty.

        Raises:
            PatchError: It does not apply.
            ProviderError: Git failed.
        """
        folder = self._folder / f"trial-{next(self._numbers)}"
        place = self.workspace.place if self.workspace.place != self.workspace.folder else folder
        trial = Trial(replace(self.workspace, folder=folder, place=place), self._start.clean, self._start.git)
        try:
            await beside(lambda stop: clone(self._start.clean, folder, stop))
            if reason := await trial.apply(patch):
                raise PatchError(f"the patch does not apply: {reason}")
            yield trial
        finally:
            await _remove(folder)

    async def test(self, patch: Patch, run: Run) -> Tested:
        """Run the repository's test command on a clean copy with only this patch.

        Args:
            patch: The patch.
            run: Where it is traced.

        Raises:
            SandboxError: There is no sandbox.
            ProviderError: The sandbox itself or git failed.
        """
        seconds = self.repository.test_seconds
        try:
            async with self.trial(patch.content) as trial:
                result = await trial.workspace.shell(self.repository.test, run.child("test"), seconds=seconds)
        except PatchError as error:
            return Tested(False, reason=str(error))
        reason = _failure(result, seconds)
        return Tested(not reason, result.stdout[-_SHOWN:], reason, result.seconds)


@asynccontextmanager
async def open_checkout(repository: Repository, folder: Path, run: Run) -> AsyncGenerator[Checkout]:
    """Copy a repository and make it ready; the copies are removed at the end.

    Tracked files are copied as they are in the working tree, uncommitted changes included, and untracked ones that are
    not ignored. The repository itself is never written to, and nothing that its configuration names is run.

    Args:
        repository: What is copied.
        folder: Where the copies are made; nobody else uses it meanwhile.
        run: Where commands are traced.

    Raises:
        UserError: The repository cannot be copied, or its set-up failed.
        SandboxError: There is no sandbox.
        ProviderError: The sandbox itself or git failed.
    """
    folder, original = _real(folder), _absolute(repository.path)
    await run.sandbox.open()
    try:
        await _remove(*(folder / name for name in _PARTS))
        folder.mkdir(parents=True, exist_ok=True)
        contents = await inspect(original, folder)
        clean = folder / "clean"
        faults = await beside(lambda stop: copy_tree(original, clean, contents.tree, ours=False, stop=stop))
        for each in contents.environments:
            (clean / each).mkdir(parents=True, exist_ok=True)
        base, remarks = await _prepared(repository, original, contents, clean, folder / "base.git", run)
        start = _start(repository, original, contents, clean, base, contents.tracked - faults.keys())
        workspace = _workspace(repository, original, contents, folder / "work", run)
        seen = await _fresh(clean, workspace.folder)
        missing = tuple(f"not copied: {path!r} ({why})" for path, why in sorted(faults.items())[:5])
        yield Checkout(workspace, (*contents.remarks, *missing, *remarks), repository, folder, start, seen)
    finally:
        trials = folder.glob("trial-*") if folder.is_dir() else ()
        await _remove(*(folder / name for name in _PARTS), *trials)
        with contextlib.suppress(OSError):
            folder.rmdir()


async def _prepared(
    repository: Repository, original: Path, contents: Contents, clean: Path, directory: Path, run: Run
) -> tuple[Git, tuple[str, ...]]:
    """Note the clean copy as a commit, after its set-up."""
    make_git_directory(directory, excludes=contents.excludes)
    base = Git(directory)
    hidden = sorted(contents.foreign | {each for each, entry in contents.tree.files.items() if entry.is_large})
    await _note(base, clean, contents, hidden)
    if not repository.setup:
        return base, ()
    before = await base.output("rev-parse", "main^{tree}")
    await _set_up(repository, original, contents, clean, run.child("setup"))
    # What the set-up ran may have changed git's own files in the copy, which are read by nobody until they are new.
    await _remove(clean / ".git")
    await _note(base, clean, contents, hidden)
    if await base.output("rev-parse", "main^{tree}") == before:
        return base, ()
    return base, ("the set-up command changes tracked files: a patch of those builds on its changes",)


def _start(
    repository: Repository, original: Path, contents: Contents, clean: Path, base: Git, tracked: frozenset[str]
) -> Start:
    keep_tests = repository.keep_tests
    return Start(base, clean, original, tracked, contents.foreign, contents.environments, keep_tests)


async def _note(base: Git, clean: Path, contents: Contents, hidden: list[str]) -> None:
    now = await beside(lambda stop: scan(clean, no_git, stop=stop))
    tracked = {
        each: entry
        for each, entry in now.files.items()
        if each in contents.tracked and not entry.is_large and not entry.is_special
    }
    await commit(base, clean, tracked)
    await give_history(base, clean, hidden)


async def _set_up(repository: Repository, original: Path, contents: Contents, clean: Path, run: Run) -> None:
    workspace = _workspace(repository, original, contents, clean, run)
    workspace = replace(workspace, network=repository.network != "off")
    result = await workspace.shell(repository.setup, run, seconds=repository.test_seconds)
    if reason := _failure(result, repository.test_seconds):
        remedy = "try it in the repository"
        if repository.network == "off":
            remedy += ", or let it reach the network by --network setup"
        ending = result.stdout[-_TAIL:].strip()
        raise UserError(
            f"the set-up command {repository.setup!r} did not work: {reason}; {remedy}."
            + (f"\n{ending}" if ending else "")
        )


def _workspace(repository: Repository, original: Path, contents: Contents, folder: Path, run: Run) -> Workspace:
    place = _absolute(repository.place or original)
    return Workspace(
        folder,
        place if run.sandbox.traits.places else folder,
        Limits(
            seconds=repository.command_seconds,
            memory=repository.memory,
            processes=repository.processes,
            file_bytes=_FILE_BYTES,
            open_files=_OPEN_FILES,
        ),
        (*repository.readable, *(original / each for each in sorted(contents.environments))),
        repository.env,
        network=repository.network == "on",
    )


def _absolute(path: Path) -> Path:
    """A path's own name from the root, whatever links it goes through."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


async def _fresh(clean: Path, folder: Path) -> Tree:
    await _remove(folder)

    def make(stop: object) -> Tree:
        clone(clean, folder)
        return scan(folder, no_git)

    return await beside(make)


async def _remove(*folders: Path) -> None:
    await undisturbed(beside(lambda _: [remove_tree(each) for each in folders]))


def _failure(result: ExecResult, seconds: float) -> str:
    """Why a command did not pass, in words; empty where it did."""
    if result.status == "ok":
        return ""
    if result.status == "timed_out":
        return f"it did not end within {seconds:g} s"
    if result.status == "out_of_memory":
        return result.reason or "it wanted more memory than it may have"
    if result.status == "crashed":
        return f"signal {result.signal} killed it"
    if result.status == "refused":
        return f"the sandbox refused to run it: {result.reason}"
    return f"it ended with exit code {result.exit_code}"
