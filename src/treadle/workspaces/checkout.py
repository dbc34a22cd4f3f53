"""Copies of a repository for one question: the worker's, a clean one, and one for each trial of a patch."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from treadle.errors import PatchError, SandboxError, UserError
from treadle.ledger.run import Run
from treadle.sandbox.base import Command, Traits
from treadle.sandbox.process import undisturbed
from treadle.workspaces.base import Patch, Repository, Tested, shown_path
from treadle.workspaces.copying import clone, remove_tree
from treadle.workspaces.inspection import inspect
from treadle.workspaces.patch import Start, read_patch
from treadle.workspaces.preparation import Preparation, absolute, failure, real
from treadle.workspaces.steering import first_folders, steering_files
from treadle.workspaces.tree import Stop, Tree, beside, no_git, scan
from treadle.workspaces.trial import Trial
from treadle.workspaces.workspace import Workspace

_SHOWN = 8000
"""Characters that are kept of what a test command wrote last."""
_NOTHING = Command(("/bin/sh", "-c", "true"))
_PARTS = ("clean", "work", "base.git", "view.git")


@dataclass(slots=True)
class Checkout:
    """A repository's copies; made by `open_checkout`.

    Attributes:
        workspace: The worker's copy, with a git history of one commit.
        remarks: What is special about the repository, in words.
        repository: What it is a copy of.
        untestable: Why `test` would say nothing of a patch, in words; empty where it does.
    """

    workspace: Workspace
    remarks: tuple[str, ...]
    repository: Repository
    untestable: str
    _traits: Traits
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

    async def tree(self) -> str:
        """What the tracked files are at the start, as git's name for them together.

        Raises:
            ProviderError: Git failed.
        """
        return (await self._start.git.output("rev-parse", "main^{tree}")).decode().strip()

    async def reset(self) -> None:
        """Bring the worker's copy back to what it was at the start: it is thrown away and made again."""
        self._seen = await _fresh(self._start.clean, self.workspace.folder)

    @asynccontextmanager
    async def look(self) -> AsyncGenerator[Workspace]:
        """The worker's copy for one who may only look, as long as nobody works in it.

        Where the sandbox keeps nobody from writing, it is a copy of the start for this one alone, removed at the end.
        """
        if self._traits.isolated:
            yield self.workspace.read_only
            return
        async with self.trial(b"") as trial:
            yield trial.workspace.read_only

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

        Where the patch changes files that steer a test run (`steering_files`), the command must pass once more with
        those set back, so that no patch decides by them what its tests say.

        Args:
            patch: The patch.
            run: Where it is traced.

        Raises:
            SandboxError: There is no sandbox, or it would run the command on code without the patch.
            ProviderError: The sandbox itself or git failed.
        """
        if self.untestable:
            raise SandboxError(self.untestable)
        seconds, command = self.repository.test_seconds, self.repository.test
        try:
            async with self.trial(patch.content) as trial:
                steering = await self._steering(patch, trial)
                result = await trial.workspace.shell(command, run.child("test"), seconds=seconds)
            reason = failure(result, seconds)
            if steering and not reason:
                async with self.trial(patch.content) as trial:
                    await trial.restore(steering)
                    again = await trial.workspace.shell(command, run.child("test without steering"), seconds=seconds)
                if reason := failure(again, seconds):
                    result, reason = again, f"without the patch's {', '.join(map(shown_path, steering))}: {reason}"
        except PatchError as error:
            return Tested(False, reason=str(error))
        return Tested(not reason, result.stdout[-_SHOWN:], reason, result.seconds, steering)

    async def _steering(self, patch: Patch, trial: Trial) -> tuple[str, ...]:
        """The files of a patch that steer a test run, before it or after it."""
        changed = {path for each in patch.files for path in (each.path, each.before) if path}
        folders = (self._start.clean, trial.workspace.folder)
        first = first_folders(self.repository.test, trial.workspace.place)
        found = await beside(lambda _: frozenset[str]().union(*(steering_files(each, first) for each in folders)))
        return tuple(
            sorted(path for path in changed if any(path == each or path.startswith(f"{each}/") for each in found))
        )


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
        UserError: The repository cannot be copied, its set-up failed, or the sandbox runs no command in the copy.
        SandboxError: There is no sandbox.
        ProviderError: The sandbox itself or git failed.
    """
    folder, original = real(folder), absolute(repository.path)
    await run.sandbox.open()
    try:
        await _remove(*(folder / name for name in _PARTS))
        folder.mkdir(parents=True, exist_ok=True)
        contents = await inspect(original, folder)
        prepared = await Preparation(repository, original, contents, folder, run).copied()
        workspace, remarks = prepared.workspace, prepared.remarks
        if prepared.untestable:
            remarks = (*remarks, prepared.untestable)
        seen = await _fresh(prepared.start.clean, workspace.folder)
        await _try(workspace, run)
        yield Checkout(
            workspace, remarks, repository, prepared.untestable, run.sandbox.traits, folder, prepared.start, seen
        )
    finally:
        trials = folder.glob("trial-*") if folder.is_dir() else ()
        await _remove(*(folder / name for name in _PARTS), *trials)
        with contextlib.suppress(OSError):
            folder.rmdir()


async def _try(workspace: Workspace, run: Run) -> None:
    """Make sure that commands run at all, before a model is paid for any."""
    result = await workspace.execute(_NOTHING, run.child("first command"), title="true")
    if reason := failure(result, workspace.limits.seconds):
        raise UserError(f"no command runs in the copy, not even `true`: {reason}")


async def _fresh(clean: Path, folder: Path) -> Tree:
    await _remove(folder)

    def make(stop: Stop) -> Tree:
        clone(clean, folder, stop)
        return scan(folder, no_git, stop=stop)

    return await beside(make)


async def _remove(*folders: Path) -> None:
    await undisturbed(beside(lambda _: [remove_tree(each) for each in folders]))
