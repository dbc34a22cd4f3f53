"""A clean copy with a patch applied, to see whether it works."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from treadle.errors import UserError
from treadle.sandbox.process import RefusedPathError, parts_of
from treadle.workspaces.copying import clone, copy_file, remove_tree
from treadle.workspaces.git import Git
from treadle.workspaces.tree import Stop, beside, entry_of, parents
from treadle.workspaces.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Trial:
    """A copy of the tree as it was after the set-up, with patches applied to it.

    Attributes:
        workspace: The copy; commands may change it.
        clean: The tree as it was.
        git: A git directory of ours.
    """

    workspace: Workspace
    clean: Path
    git: Git

    async def apply(self, patch: bytes) -> str:
        """Apply a patch; nothing is changed where any part of it does not apply.

        Args:
            patch: What ``git apply`` takes.

        Returns:
            Empty, or why it does not apply.
        """
        return await apply_in(self.git, self.workspace.folder, patch)

    async def restore(self, paths: Sequence[str]) -> None:
        """Bring files back to what they were at the start; what was not there then is gone.

        Args:
            paths: Files or folders, from the top.

        Raises:
            UserError: A path leads out of the copy.
        """
        for path in paths:
            try:
                parts_of(path)
            except RefusedPathError as error:
                raise UserError(f"cannot bring it back: {error}") from error
        folder = self.workspace.folder
        await beside(lambda stop: [_restore(self.clean, folder, "/".join(parts_of(each)), stop) for each in paths])


async def apply_in(git: Git, tree: Path, patch: bytes) -> str:
    """Apply a patch to a folder, byte for byte; empty, or why it does not apply."""
    if not patch.strip():
        return ""
    answer = await Git(git.directory, tree).run("apply", "--whitespace=nowarn", stdin=patch)
    return answer.reason if answer.code else ""


def _restore(clean: Path, folder: Path, path: str, stop: Stop) -> None:
    for each in parents(path):
        at = folder / each
        if at.is_symlink() or not at.is_dir():
            at.unlink(missing_ok=True)
            if not (clean / each).is_dir() or (clean / each).is_symlink():
                return _put_back(clean, folder, each, stop)
            at.mkdir()
            shutil.copymode(clean / each, at)
    return _put_back(clean, folder, path, stop)


def _put_back(clean: Path, folder: Path, path: str, stop: Stop) -> None:
    source, target = clean / path, folder / path
    if os.path.lexists(target):
        remove_tree(target)
    if source.is_dir() and not source.is_symlink():
        clone(source, target, stop)
        shutil.copymode(source, target)
    elif os.path.lexists(source):
        copy_file(str(source), str(target), entry_of(source.lstat()), stop=stop)
