"""Trees written into git's own form, without git ever looking at a working tree."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from treadle.workspaces.copying import clone, content_of
from treadle.workspaces.git import Git, make_git_directory, quoted
from treadle.workspaces.tree import Entry, Stop, beside

START = "refs/heads/main"
_BY = b"committer Treadle <treadle@localhost> 1577836800 +0000\n"
_WORKER = """[core]
\tcheckStat = minimal
\ttrustctime = false
[user]
\tname = worker
\temail = worker@localhost
[gc]
\tauto = 0
"""


async def commit(
    git: Git,
    root: Path,
    files: Mapping[str, Entry],
    *,
    ref: str = START,
    onto: str = "",
    gone: Iterable[str] = (),
    message: str = "start",
) -> dict[str, str]:
    """Commit files as they are on disk, byte for byte.

    Args:
        git: The repository.
        root: The folder that the files lie in.
        files: What to commit, by path.
        ref: The reference that is set to the commit.
        onto: The commit before it.
        gone: Paths that the commit before has and this one has not.
        message: What it says.

    Returns:
        What cannot be read, and why: such files are as in the commit before.
    """
    with tempfile.TemporaryFile(dir=git.directory) as stream:

        def write(stop: Stop) -> dict[str, str]:
            stream.write(b"commit %s\n%sdata %d\n%s\n" % (ref.encode(), _BY, len(message), message.encode()))
            if onto:
                stream.write(b"from %s\n" % onto.encode())
            stream.writelines(b"D %s\n" % quoted(os.fsencode(path)) for path in gone)
            faults = _write_files(stream, root, files, stop)
            stream.write(b"\ndone\n")
            stream.seek(0)
            return faults

        faults = await beside(write)
        await git.output("fast-import", "--quiet", "--done", "--force", "--depth=0", stdin=stream)  # pyright: ignore[reportArgumentType]
    return faults


async def give_history(base: Git, copy: Path, hidden: Iterable[str]) -> None:
    """Give a copy a git directory of its own, with one commit: that of the base.

    Args:
        base: The repository that holds it.
        copy: The copy; nothing of somebody else has run in it since it was made or emptied of git's own.
        hidden: Paths that its status shall not show.
    """
    own = copy / ".git"
    excludes = (base.directory / "info/exclude").read_bytes()
    lines = [_pattern(each) for each in hidden if "\n" not in each]
    make_git_directory(own, bare=False, config=_WORKER, excludes=b"\n".join([excludes, *lines, b""]))

    def copy_objects(stop: Stop) -> None:
        (own / "objects/pack").rmdir()
        clone(base.directory / "objects/pack", own / "objects/pack", stop)

    await beside(copy_objects)
    commit = (await base.output("rev-parse", START)).decode()
    (own / START).write_text(commit)
    git = Git(own, copy)
    await git.output("read-tree", "HEAD")
    await git.run("-c", "core.checkStat=minimal", "-c", "core.trustctime=false", "update-index", "-q", "--refresh")


def _write_files(stream: BinaryIO, root: Path, files: Mapping[str, Entry], stop: Stop) -> dict[str, str]:
    faults: dict[str, str] = {}
    for path, entry in files.items():
        if stop.is_set():
            break
        try:
            content = content_of(f"{root}/{path}", entry)
        except OSError as error:
            faults[path] = (error.strerror or str(error)).lower()
            continue
        stream.write(b"M %s inline %s\n" % (entry.git_mode.encode(), quoted(os.fsencode(path))))
        stream.write(b"data %d\n" % len(content))
        stream.write(content)
        stream.write(b"\n")
    return faults


def _pattern(path: str) -> bytes:
    escaped = "".join(f"\\{each}" if each in "\\*?[ !#" else each for each in path)
    return b"/" + os.fsencode(escaped)
