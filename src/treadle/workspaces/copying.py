"""Copying and removing folders: bytes, modes and times as they are, links as links, special files left out.

Paths are plain strings here: joining `pathlib` ones would take longer than copying the files.
"""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH115, PTH123, PTH211

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Generator
from pathlib import Path

from treadle.workspaces.tree import Entry, Stop, StoppedError, Tree, cause, entry_of, everything, scan

_CLONE = 0x40049409
"""The ``FICLONE`` request of Linux: share the blocks of a file until one of both changes."""
PIECE = 2**24
"""Bytes that are copied or compared at once."""
_LONG_PATH = 2000
_NOT_POSSIBLE = (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM, errno.EBADF)


def copy_tree(source: Path, target: Path, tree: Tree, *, ours: bool = True, stop: Stop | None = None) -> dict[str, str]:
    """Copy what was listed of a folder into a new one.

    Args:
        source: The folder.
        target: Where to; made here.
        tree: What to copy.
        ours: Whether unreadable files of the source may be opened by changing their mode for a moment.
        stop: Ends it early.

    Returns:
        What is not copied, and why.
    """
    faults = dict(tree.faults)
    target.mkdir(parents=True)
    here, there = f"{source}/", f"{target}/"
    for path in tree.folders:
        os.mkdir(there + path, 0o700)
    for path, entry in tree.files.items():
        if stop is not None and stop.is_set():
            raise StoppedError
        if entry.is_special:
            faults[path] = "it is neither a file nor a link"
            continue
        try:
            copy_file(here + path, there + path, entry, ours=ours, stop=stop)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            faults[path] = cause(error)
    for path, mode in reversed(tree.folders.items()):
        os.chmod(there + path, mode & 0o777)
    return faults


def clone(source: Path, target: Path, stop: Stop | None = None) -> None:
    """Copy a folder of ours with everything in it."""
    copy_tree(source, target, scan(source, everything, stop=stop), stop=stop)


def copy_file(source: str, target: str, entry: Entry, *, ours: bool = True, stop: Stop | None = None) -> None:
    """Copy a file or a link to where nothing is.

    Args:
        source: What to copy.
        target: Where to.
        entry: What the source is.
        ours: As in `copy_tree`.
        stop: Ends it early.

    Raises:
        OSError: It cannot be read any more, or not be written.
    """
    if entry.is_link:
        os.symlink(os.readlink(source), target)
        os.utime(target, ns=(entry.modified, entry.modified), follow_symlinks=False)
        return
    with opened(source, ours=ours) as reading:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            _copy_content(reading, writing, stop)
            os.fchmod(writing, entry.mode & 0o777)
            os.utime(writing, ns=(entry.modified, entry.modified))
        finally:
            os.close(writing)


@contextlib.contextmanager
def opened(path: str, *, ours: bool = True) -> Generator[int]:
    """A regular file, open for reading; neither a link nor a pipe is opened.

    Raises:
        OSError: It is no regular file, or cannot be read.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags)
    except PermissionError:
        mode = os.lstat(path).st_mode
        if not ours or not stat.S_ISREG(mode):
            raise
        os.chmod(path, 0o600)
        try:
            fd = os.open(path, flags)
        finally:
            os.chmod(path, stat.S_IMODE(mode))
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is no file any more")
        yield fd
    finally:
        os.close(fd)


def content_of(path: str, entry: Entry, *, ours: bool = True) -> bytes:
    """What a file holds, or where a link leads.

    Raises:
        OSError: It cannot be read.
    """
    if entry.is_link:
        return os.fsencode(os.readlink(path))
    with opened(path, ours=ours) as fd, open(os.dup(fd), "rb") as file:
        return file.read()


def same_file(first: str, second: str) -> bool:
    """Whether two paths hold the same: kind, executable bit and content; a file that is missing is like no other."""
    try:
        one, other = entry_of(os.lstat(first)), entry_of(os.lstat(second))
        if one.is_special or other.is_special or one.git_mode != other.git_mode or one.size != other.size:
            return False
        if one.is_link:
            return content_of(first, one) == content_of(second, other)
        with opened(first) as left, opened(second) as right:
            while piece := os.read(left, PIECE):
                if piece != os.read(right, len(piece)):
                    return False
            return True
    except OSError:
        return False


def remove_tree(folder: Path) -> None:
    """Remove a folder with everything in it, whatever its modes and however deep it is; a file or nothing is fine too.

    Raises:
        OSError: Something in it cannot be removed.
    """
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    emptied: list[str] = []
    waiting = [str(folder)]
    moved = 0
    while waiting:
        path = waiting.pop()
        os.chmod(path, 0o700)
        emptied.append(path)
        with os.scandir(path) as found:
            for each in found:
                if not each.is_dir(follow_symlinks=False):
                    os.unlink(each.path)
                elif len(each.path) < _LONG_PATH:
                    waiting.append(each.path)
                else:
                    os.chmod(each.path, 0o700)
                    waiting.append(f"{folder}/.removed-{os.getpid()}-{moved}")
                    os.rename(each.path, waiting[-1])
                    moved += 1
    for path in sorted(emptied, key=len, reverse=True):
        os.rmdir(path)


def _copy_content(reading: int, writing: int, stop: Stop | None) -> None:
    try:
        fcntl.ioctl(writing, _CLONE, reading)
        return
    except OSError as error:
        if error.errno not in _NOT_POSSIBLE:
            raise
    size = os.fstat(reading).st_size
    os.truncate(writing, size)
    for start, end in _filled(reading, size):
        _copy_part(reading, writing, start, end, stop)


def _filled(fd: int, size: int) -> Generator[tuple[int, int]]:
    """The parts of a file that are no holes."""
    status = os.fstat(fd)
    if status.st_blocks * 512 >= size:
        yield 0, size
        return
    at = 0
    while at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            return
        at = os.lseek(fd, start, os.SEEK_HOLE)
        yield start, at


def _copy_part(reading: int, writing: int, start: int, end: int, stop: Stop | None) -> None:
    while start < end:
        if stop is not None and stop.is_set():
            raise StoppedError
        size = min(end - start, PIECE)
        try:
            done = os.copy_file_range(reading, writing, size, start, start)
        except OSError as error:
            if error.errno not in _NOT_POSSIBLE:
                raise
            done = os.pwrite(writing, os.pread(reading, size, start), start)
        if not done:
            return
        start += done
