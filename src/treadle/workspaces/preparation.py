"""Making the copy that all others are made of: what is copied, the set-up, and what commands shall know of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from treadle.errors import UserError
from treadle.ledger.run import Run
from treadle.sandbox.base import ExecResult, Limits
from treadle.sandbox.process import undisturbed
from treadle.workspaces.base import Repository, shown_path
from treadle.workspaces.copying import copy_tree, remove_tree
from treadle.workspaces.git import Git, make_git_directory
from treadle.workspaces.inspection import Contents, names_of
from treadle.workspaces.originals import original_used
from treadle.workspaces.patch import Start
from treadle.workspaces.snapshot import commit, give_history
from treadle.workspaces.tree import Tree, beside, no_git, parents, scan
from treadle.workspaces.workspace import Workspace

_FILE_BYTES = 2**30
_OPEN_FILES = 1024
_TAIL = 1500
"""Characters of a failed set-up that are shown."""
_CHANGED = "the set-up command changes tracked files: a patch of those builds on its changes"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a checkout begins with.

    Attributes:
        start: The copy that all others are made of.
        workspace: The worker's, which is not made yet.
        remarks: What is special about the repository, in words.
        untestable: Why the test command would say nothing of a patch, in words; empty where it does.
    """

    start: Start
    workspace: Workspace
    remarks: tuple[str, ...]
    untestable: str


@dataclass(frozen=True, slots=True)
class Preparation:
    """A repository that is made ready to be copied again and again.

    Attributes:
        repository: What is copied.
        original: Its folder, by its name from the root.
        contents: What of it is copied.
        folder: Where everything is made.
        run: Where commands are traced.
    """

    repository: Repository
    original: Path
    contents: Contents
    folder: Path
    run: Run

    async def copied(self) -> Prepared:
        """Copy it, run its set-up, and note the copy as a commit.

        Raises:
            UserError: The set-up failed.
            SandboxError: There is no sandbox.
            ProviderError: The sandbox itself or git failed.
        """
        contents, clean = self.contents, self.folder / "clean"
        faults = await beside(lambda stop: copy_tree(self.original, clean, contents.tree, ours=False, stop=stop))
        for each in contents.environments:
            (clean / each).mkdir(parents=True, exist_ok=True)
        base, lacking, remarks = await self._noted(clean)
        tracked, keep_tests = contents.tracked - faults.keys(), self.repository.keep_tests
        start = Start(base, clean, self.original, tracked, contents.foreign, contents.environments, keep_tests)
        missing = (f"not copied: {path!r} ({why})" for path, why in sorted(faults.items())[:5])
        remarks = (*contents.remarks, *missing, *self._remarks(lacking), *remarks)
        return Prepared(start, self.workspace(self.folder / "work", lacking), remarks, await self._untestable(clean))

    def workspace(self, folder: Path, environments: frozenset[str] = frozenset()) -> Workspace:
        """A copy as commands see it.

        Args:
            folder: The copy.
            environments: Folders that are shown in it read-only as they are in the original.
        """
        repository = self.repository
        shown = tuple(self.original / each for each in sorted(environments))
        return Workspace(
            folder,
            self.place if self.run.sandbox.traits.places else folder,
            Limits(
                seconds=repository.command_seconds,
                memory=repository.memory,
                processes=repository.processes,
                file_bytes=_FILE_BYTES,
                open_files=_OPEN_FILES,
            ),
            tuple(dict.fromkeys((*repository.readable, *shown))),
            repository.env,
            network=repository.network == "on",
        )

    @property
    def place(self) -> Path:
        """Where commands see a copy in a sandbox that can show it there."""
        return absolute(self.repository.place or self.original)

    async def _untestable(self, clean: Path) -> str:
        repository, contents, sandbox = self.repository, self.contents, self.run.sandbox
        if not repository.test or sandbox.traits.places:
            return ""
        places = (self.place, self.original, real(self.original))
        commands = (repository.test, repository.setup, repository.env)

        def used() -> str:
            of_original = original_used(*commands, self.original, clean, places=places, apart=contents.environments)
            return of_original or original_used(*commands, clean, clean, places=(clean,))

        if not (reason := await beside(lambda _: used())):
            return ""
        return (
            f"the test command is not run, for it would not test the patch: the sandbox {sandbox.name} shows a copy "
            f"where it is, and {reason}; name one that shows it in the original's place, such as bubblewrap (`treadle "
            "doctor` says which work here)"
        )

    async def _noted(self, clean: Path) -> tuple[Git, frozenset[str], tuple[str, ...]]:
        """The copy as a commit after its set-up, the environments that it still lacks, and remarks."""
        contents, directory = self.contents, self.folder / "base.git"
        make_git_directory(directory, excludes=contents.excludes)
        base = Git(directory)
        now = await self._note(base, clean)
        if not self.repository.setup:
            return base, contents.environments, ()
        before = await base.output("rev-parse", "main^{tree}")
        await self._set_up(clean)
        # What the set-up ran may have changed git's own files in the copy, which are read by nobody until they are new.
        await undisturbed(beside(lambda _: remove_tree(clean / ".git")))
        now = await self._note(base, clean)
        filled = {folder for path in (*now.files, *now.folders) for folder in parents(path)}
        lacking = frozenset(each for each in contents.environments if each in now.folders and each not in filled)
        changed = await base.output("rev-parse", "main^{tree}") != before
        return base, lacking, (_CHANGED,) if changed else ()

    async def _note(self, base: Git, clean: Path) -> Tree:
        contents = self.contents
        hidden = sorted(contents.foreign | {each for each, entry in contents.tree.files.items() if entry.is_large})
        now = await beside(lambda stop: scan(clean, no_git, stop=stop))
        tracked = {
            each: entry
            for each, entry in now.files.items()
            if each in contents.tracked and not entry.is_large and not entry.is_special
        }
        await commit(base, clean, tracked)
        await give_history(base, clean, hidden)
        return now

    async def _set_up(self, clean: Path) -> None:
        """Run the set-up, which may make what the original has as an environment."""
        repository, run = self.repository, self.run.child("setup")
        # What is shown on top of a folder cannot be made anew there.
        shown = frozenset[str]() if run.sandbox.traits.places else self.contents.environments
        workspace = replace(self.workspace(clean, shown), network=repository.network != "off")
        result = await workspace.shell(repository.setup, run, seconds=repository.test_seconds)
        if not (reason := failure(result, repository.test_seconds)):
            return
        remedy = "try it in the repository"
        if repository.network == "off":
            remedy += ", or let it reach the network by --network setup"
        if self.contents.environments:
            names = names_of(self.contents.environments)
            remedy += f"; it may make {names} anew and does not see what is there, unless --readable names it"
        ending = result.stdout[-_TAIL:].strip()
        raise UserError(
            f"the set-up command {repository.setup!r} did not work: {reason}; {remedy}."
            + (f"\n{ending}" if ending else "")
        )

    def _remarks(self, environments: frozenset[str]) -> list[str]:
        """What commands do and do not find, in words."""
        sandbox, readable, remarks = self.run.sandbox, self.repository.readable, list[str]()
        if environments and sandbox.traits.places:
            remarks.append(f"not copied, and shown to commands read-only: {names_of(environments)}")
        elif environments:
            remarks.append(f"not copied, and not in the copy: {names_of(environments)} (they are in {self.original})")
        if readable and sandbox.traits.isolated:
            named = ", ".join(map(shown_path, map(str, readable)))
            remarks.append(f"commands may read besides the copy: {named}")
        if not sandbox.traits.places:
            remarks.append(
                f"the sandbox {sandbox.name} shows a copy where it is and not at {self.place}: what is installed from "
                "there in editable form, or names files there, runs without the patch"
            )
        return remarks


def absolute(path: Path) -> Path:
    """A path's own name from the root, whatever links it goes through."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def real(path: Path) -> Path:
    """A path's name without links."""
    return Path(os.path.realpath(path))


def failure(result: ExecResult, seconds: float) -> str:
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
