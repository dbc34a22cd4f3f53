"""Private folders of this machine for work, and their end, whatever the work made of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path


@asynccontextmanager
async def private_folder() -> AsyncGenerator[Path]:
    """A new folder that only this user can enter, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="treadle-"))
    try:
        yield folder
    finally:
        await asyncio.to_thread(remove_folder, folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder however deep it is, whatever its permissions, without following a link.

    Folders are moved up to the top one by one, so that no path grows long and no call goes deep; what resists (a file
    that only another user may remove) stays.
    """
    for name, mode in _entries(folder):
        if not stat.S_ISDIR(mode):
            with contextlib.suppress(OSError):
                (folder / name).unlink()
    while inner := [name for name, mode in _entries(folder) if stat.S_ISDIR(mode)]:
        gone = [_flatten(folder, folder / name) for name in inner]
        if not any(gone):
            break
    with contextlib.suppress(OSError):
        folder.rmdir()


def _flatten(top: Path, folder: Path) -> bool:
    for name, mode in _entries(folder):
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(mode):
                (folder / name).chmod(0o700)  # what is moved must itself be writable: its ".." changes
                (folder / name).rename(top / secrets.token_hex(8))
            else:
                (folder / name).unlink()
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def _entries(folder: Path) -> list[tuple[str, int]]:
    try:
        folder.chmod(0o700)
        with os.scandir(folder) as entries:
            return [(entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in entries]
    except OSError:
        return []
