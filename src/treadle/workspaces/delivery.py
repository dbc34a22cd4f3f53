"""Handing a patch to the user's own repository: into its working tree, or as a commit on a new branch."""

from __future__ import annotations

import tempfile
from pathlib import Path

from treadle.errors import UserError
from treadle.workspaces.git import Git, make_git_directory
from treadle.workspaces.git_folder import GitFolder, find_git_folder, identity_of, private_view
from treadle.workspaces.inspection import uncommitted
from treadle.workspaces.trial import apply_in

_NONE = "0"


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
        make_git_directory(Path(aside) / "apply.git", bare=False)
        if reason := await apply_in(Git(Path(aside) / "apply.git"), repository, patch):
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
        git = Git(source.directory, index=Path(aside) / "index", env=await identity_of(source))
        await git.output("read-tree", source.head)
        if patch.strip():
            applied = await git.run("apply", "--cached", "--whitespace=nowarn", stdin=patch)
            if applied.code:
                raise UserError(
                    f"the patch does not apply to the commit {source.head[:12]}: {applied.reason}. It builds on the "
                    "working tree as it was: commit that first, or use --apply"
                )
        tree = (await git.output("write-tree")).decode().strip()
        made = await git.output("commit-tree", "--no-gpg-sign", tree, "-p", source.head, stdin=message.encode())
        commit = made.decode().strip()
        new = await git.run("update-ref", f"refs/heads/{name}", commit, _NONE * len(source.head))
        if new.code:
            raise UserError(f"the branch {name} cannot be made: {new.reason}")
    return commit


def _committed(repository: Path) -> GitFolder:
    source = find_git_folder(_absolute(repository))
    if source is None:
        raise UserError(f"{repository} is no git repository, so there is no branch to make: use --apply")
    if not source.head:
        raise UserError(f"{repository} has no commit that a branch could start from: make one first, or use --apply")
    return source


async def _refuse(source: GitFolder, name: str) -> None:
    git = Git(source.directory)
    if name.startswith("-") or (await git.run("check-ref-format", f"refs/heads/{name}")).code:
        raise UserError(f"{name!r} is no name that a branch can have; see `git help check-ref-format`")
    if not (await git.run("rev-parse", "--quiet", "--verify", f"refs/heads/{name}")).code:
        raise UserError(f"the branch {name} is there already: choose another name, or delete it")


def _absolute(path: Path) -> Path:
    return path.absolute()
