"""Handing a patch to the user's own repository: into its working tree, or as a commit on a new branch."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from treadle.errors import UserError
from treadle.workspaces.copying import opened
from treadle.workspaces.git import Git, make_git_directory
from treadle.workspaces.git_folder import GitFolder, find_git_folder, identity_of, private_view
from treadle.workspaces.inspection import uncommitted
from treadle.workspaces.tree import beside, no_git, parents, scan
from treadle.workspaces.trial import apply_in

_NONE = "0"
_NO_BRANCH = ("HEAD", "@")
"""Names that are some commit everywhere else."""


async def check_clean(repository: Path) -> None:
    """Make sure that no tracked file has uncommitted changes; a folder without git has none.

    Args:
        repository: A git working tree, or any folder.

    Raises:
        UserError: One has, or git cannot tell.
    """
    repository = _absolute(repository)
    source = find_git_folder(repository)
    if source is None or not source.head:
        return
    with tempfile.TemporaryDirectory(prefix="treadle-") as aside:
        changed = await uncommitted(await private_view(source, repository, Path(aside) / "view.git"))
    if changed is None:
        raise UserError(f"git cannot tell whether {repository} has uncommitted changes: apply the patch by `git apply`")
    if changed:
        files = "1 tracked file" if changed == 1 else f"{changed} tracked files"
        raise UserError(f"{files} of {repository} with uncommitted changes: commit or stash them first")


async def apply_patch(repository: Path, patch: bytes) -> None:
    """Apply a patch to a working tree, all of it or nothing; the index stays as it is.

    Args:
        repository: A git working tree, or any folder.
        patch: What ``git apply`` takes.

    Raises:
        UserError: Tracked files have uncommitted changes, or it does not apply.
        ProviderError: Git failed.
    """
    repository = _absolute(repository)
    await check_clean(repository)
    with tempfile.TemporaryDirectory(prefix="treadle-") as aside:
        if reason := await _apply(Path(aside), repository, patch):
            raise UserError(f"the patch does not apply to {repository}: {reason}")


async def check_new_branch(repository: Path, name: str) -> None:
    """Make sure that a branch can be made from HEAD.

    Args:
        repository: A git working tree.
        name: The branch.

    Raises:
        UserError: There is no commit to start from, git takes no such name, or the branch is there already.
    """
    await _refuse(_committed(repository), name)


async def make_branch(repository: Path, name: str, patch: bytes, message: str) -> str:
    """Commit a patch on a new branch from HEAD; working tree and index stay as they are, and no hook runs.

    A patch speaks of files as they lie in the working tree. What is committed is what git would make of those, line
    endings above all; filters that the repository names are not run.

    Args:
        repository: A git working tree.
        name: The branch, which must not be there.
        patch: What ``git apply`` takes.
        message: What the commit says.

    Returns:
        The commit.

    Raises:
        UserError: As in `check_new_branch`, or the patch does not apply to HEAD.
        ProviderError: Git failed.
    """
    source = _committed(repository)
    await _refuse(source, name)
    with tempfile.TemporaryDirectory(prefix="treadle-") as aside:
        tree = await _patched(source, _absolute(repository), Path(aside), patch)
        git = Git(source.directory, env=await identity_of(source))
        made = await git.output("commit-tree", "--no-gpg-sign", tree, "-p", source.head, stdin=message.encode())
        commit = made.decode().strip()
        new = await git.run("update-ref", f"refs/heads/{name}", commit, _NONE * len(source.head))
        if new.code:
            raise UserError(f"the branch {name} cannot be made: {new.reason}")
    return commit


async def _patched(source: GitFolder, repository: Path, aside: Path, patch: bytes) -> str:
    """The tree of HEAD with a patch, in the user's objects."""
    view = await private_view(source, repository, aside / "view.git")
    git = replace(view, index=aside / "index", env={"GIT_OBJECT_DIRECTORY": str(source.common / "objects")})
    await git.output("read-tree", source.head)
    if patch.strip():
        touched, folder = await _touched(git, patch), aside / "files"
        scratch = await _scratch(git, folder, touched)
        if reason := await _apply(aside, folder, patch):
            raise UserError(
                f"the patch does not apply to the commit {source.head[:12]}: {reason}. It builds on the working tree "
                "as it was: where that had uncommitted changes, commit them first"
            )
        present = (await beside(lambda stop: scan(folder, no_git, stop=stop))).files
        gone = [path for path in touched if path not in present]
        for way, paths in (("--force-remove", gone), ("--add", present)):
            await scratch.output("update-index", way, "-z", "--stdin", stdin=_listed(paths))
    return (await git.output("write-tree")).decode().strip()


async def _apply(aside: Path, tree: Path, patch: bytes) -> str:
    """Apply a patch byte for byte, whatever the attributes of a tree ask for; empty, or why it does not apply."""
    make_git_directory(aside / "apply.git", bare=False)
    return await apply_in(Git(aside / "apply.git"), tree, patch)


async def _touched(git: Git, patch: bytes) -> list[str]:
    """The files that a patch reads or writes; turned round it names those that it moves by their old names."""
    names: set[bytes] = set()
    for way in ((), ("--reverse",)):
        told = await git.run("apply", *way, "--numstat", "-z", stdin=patch)
        if told.code:
            raise UserError(f"the patch cannot be read: {told.reason}")
        names |= {each.split(b"\t", 2)[2] for each in told.output.split(b"\0")[:-1]}
    return sorted(map(os.fsdecode, names))


async def _scratch(git: Git, folder: Path, paths: Sequence[str]) -> Git:
    """Some files of HEAD as they lie in the working tree, or would if they were unchanged there."""
    await beside(lambda _: folder.mkdir())
    scratch = replace(git, tree=folder, settings={**git.settings, "core.fileMode": "true", "core.symlinks": "true"})
    # What is new with the patch is not there yet, which git tells by its exit code.
    await scratch.run("checkout-index", "--force", "--quiet", "-z", "--stdin", stdin=_listed(paths))
    asked = ("status", "--porcelain", "-z", "-uno", "--ignore-submodules=all", "--no-renames", "--", *paths)
    changed = {os.fsdecode(each[3:]) for each in (await git.output(*asked)).split(b"\0")}
    same = [path for path in paths if path not in changed]
    await beside(lambda _: [_take(f"{git.tree}/{path}", folder / path) for path in same])
    return scratch


def _take(source: str, target: Path) -> None:
    """Give a file the bytes of the one that git takes for the same."""
    if target.is_file() and not target.is_symlink():
        with contextlib.suppress(OSError), opened(source, ours=False) as fd, open(os.dup(fd), "rb") as file:  # noqa: PTH123
            target.write_bytes(file.read())


def _listed(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _committed(repository: Path) -> GitFolder:
    source = find_git_folder(_absolute(repository))
    if source is None:
        raise UserError(f"{repository} is no git repository, so there is no branch to make: use --apply")
    if not source.head:
        raise UserError(f"{repository} has no commit that a branch could start from: make one first, or use --apply")
    return source


async def _refuse(source: GitFolder, name: str) -> None:
    git = Git(source.directory)
    taken = name.startswith("-") or name in _NO_BRANCH
    if taken or (await git.run("check-ref-format", f"refs/heads/{name}")).code:
        raise UserError(f"{name!r} is no name that a branch can have; see `git help check-ref-format`")
    outer = [f"refs/heads/{each}" for each in parents(name)]
    full = f"refs/heads/{name}"
    known = (await git.output("for-each-ref", "--format=%(refname)", full, *outer)).decode(errors="replace").split("\n")
    if full in known:
        raise UserError(f"the branch {name} is there already: choose another name, or delete it")
    if other := next((each for each in known if each in outer or each.startswith(f"{full}/")), ""):
        other = other.removeprefix("refs/heads/")
        raise UserError(f"git has no branch {name} beside the branch {other}: choose another name")


def _absolute(path: Path) -> Path:
    return path.absolute()
