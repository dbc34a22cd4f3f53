"""What is in a folder: every file once, no link followed, nothing opened."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from treadle.sandbox.process import undisturbed

T = TypeVar("T")
LARGE = 64 * 2**20
"""Bytes above which a file is copied, and is no part of a patch."""


class Stop(threading.Event):
    """Tells work that runs beside the event loop that nobody wants it any more."""


class StoppedError(Exception):
    """Work ended early because it was told to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as the file system knows it; two that are equal have the same content."""

    mode: int
    size: int
    inode: int
    modified: int
    changed: int

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.mode)

    @property
    def is_special(self) -> bool:
        """Whether it is neither file nor link, such as a pipe."""
        return not (self.is_file or self.is_link)

    @property
    def is_large(self) -> bool:
        """Whether it is too large for a patch."""
        return self.is_file and self.size > LARGE

    @property
    def git_mode(self) -> str:
        """Its mode in a git tree."""
        return "120000" if self.is_link else "100755" if self.mode & 0o100 else "100644"


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder's content by path from the top.

    Attributes:
        files: Everything that is no folder.
        folders: The folders' modes, each after the one it lies in.
        faults: What cannot be read, and why.
    """

    files: dict[str, Entry] = field(default_factory=dict[str, Entry])
    folders: dict[str, int] = field(default_factory=dict[str, int])
    faults: dict[str, str] = field(default_factory=dict[str, str])


def everything(path: str) -> bool:
    """Take each path."""
    return True


def no_git(path: str) -> bool:
    """Take each path but git's own."""
    return path.rpartition("/")[2] != ".git"


def scan(root: Path, takes: Callable[[str], bool] = no_git, *, ours: bool = True, stop: Stop | None = None) -> Tree:
    """List a folder.

    Args:
        root: The folder.
        takes: Whether a path is listed and, being a folder, looked into.
        ours: Whether closed folders may be opened by changing their mode.
        stop: Ends it early.
    """
    tree = Tree()
    waiting = [""]
    while waiting:
        if stop is not None and stop.is_set():
            raise StoppedError
        folder = waiting.pop()
        try:
            found = _listed(root, folder, ours)
        except OSError as error:
            tree.faults[folder] = cause(error)
            continue
        for name, status in found:
            path = f"{folder}/{name}" if folder else name
            if not takes(path):
                continue
            if stat.S_ISDIR(status.st_mode):
                tree.folders[path] = stat.S_IMODE(status.st_mode)
                waiting.append(path)
            else:
                tree.files[path] = entry_of(status)
    return tree


def _listed(root: Path, folder: str, ours: bool) -> list[tuple[str, os.stat_result]]:
    path = os.path.join(root, folder)  # noqa: PTH118  a Path would join the parts of each name again
    try:
        with os.scandir(path) as found:
            return sorted(((each.name, each.stat(follow_symlinks=False)) for each in found), key=lambda each: each[0])
    except PermissionError:
        if not ours:
            raise
    os.chmod(path, 0o700)  # noqa: PTH101
    with os.scandir(path) as found:
        return sorted(((each.name, each.stat(follow_symlinks=False)) for each in found), key=lambda each: each[0])


def entry_of(status: os.stat_result) -> Entry:
    """What is compared of a file."""
    return Entry(status.st_mode, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def parents(path: str) -> Iterator[str]:
    """The folders that a path goes through, outermost first."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def below(path: str, folders: frozenset[str]) -> str:
    """The folder among these that is the path or that it lies in; empty where none is."""
    if not folders:
        return ""
    return next((each for each in (*parents(path), path) if each in folders), "")


def cause(error: OSError) -> str:
    """Why a file cannot be used, in words."""
    if error.errno == errno.ENAMETOOLONG:
        return "its path is too long"
    return (error.strerror or str(error)).lower()


async def beside(work: Callable[[Stop], T]) -> T:
    """Run work that blocks in a thread; when the caller is cancelled, it has ended before the caller goes on."""
    stop = Stop()
    task = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        await undisturbed(_over(task))
        raise


async def _over(task: asyncio.Future[T]) -> None:
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
