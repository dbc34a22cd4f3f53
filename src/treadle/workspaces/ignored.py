"""Which files a tree's own lists ignore, whatever else its worker left in it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

from treadle.errors import ProviderError
from treadle.sandbox.process import undisturbed
from treadle.workspaces.copying import content_of, remove_tree
from treadle.workspaces.git import Git
from treadle.workspaces.tree import Stop, StoppedError, Tree, beside, parents

_NUMBERS = count()
_LIST = ".gitignore"
_LIST_BYTES = 2**20
"""The longest list that is read."""
_SECONDS = 60.0
_NONE_IGNORED = 1
"""What ``git check-ignore`` exits with where nothing is ignored."""


async def ignored(git: Git, work: Path, now: Tree, paths: Sequence[str]) -> frozenset[str]:
    """Those files that the ``.gitignore`` files of a tree and git's own list ignore; none where git cannot tell.

    Git never looks at the tree, where a link or a pipe would stop it, only at folders of ours with the same lists.

    Args:
        git: Whose own list counts too.
        work: The tree.
        now: What is in it.
        paths: The files.
    """
    if not paths:
        return frozenset()
    aside = git.directory / f"ignored-{next(_NUMBERS)}"
    try:
        await beside(lambda stop: _lay_out(aside, work, now, paths, stop))
        # Its paths cannot be declared literal; after "./" nothing in them means anything.
        looking = Git(git.directory, aside, env={"GIT_LITERAL_PATHSPECS": "0"})
        stdin = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        answer = await looking.run("check-ignore", "--no-index", "-z", "--stdin", stdin=stdin, seconds=_SECONDS)
    except ProviderError:
        return frozenset()
    finally:
        await undisturbed(beside(lambda _: remove_tree(aside)))
    if answer.code not in (0, _NONE_IGNORED):
        return frozenset()
    return frozenset(os.fsdecode(each).removeprefix("./") for each in answer.output.split(b"\0")[:-1])


def _lay_out(aside: Path, work: Path, now: Tree, paths: Iterable[str], stop: Stop) -> None:
    """The lists of the folders that these paths go through, at the same places of a folder that holds nothing else."""
    aside.mkdir()
    folders = {"": "", **{folder: f"{folder}/" for path in paths for folder in parents(path)}}
    for folder in folders.values():
        if stop.is_set():
            raise StoppedError
        path = folder + _LIST
        entry = now.files.get(path)
        if entry is None or not entry.is_file or entry.size > _LIST_BYTES:
            continue
        # One that cannot be read, or lies too deep, counts as one that is not there.
        with contextlib.suppress(OSError):
            content = content_of(f"{work}/{path}", entry)
            for each in parents(path):
                (aside / each).mkdir(exist_ok=True)
            (aside / path).write_bytes(content)
