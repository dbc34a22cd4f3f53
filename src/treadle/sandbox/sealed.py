"""Bytes for a process to read, in memory of their own that nobody can change."""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL


def sealed(content: bytes, opened: ExitStack) -> int:
    """A descriptor to read some bytes from, which nobody can change, open as long as ``opened`` is."""
    descriptor = empty(opened)
    fill(descriptor, content)
    return descriptor


def empty(opened: ExitStack) -> int:
    """A descriptor for `fill`, open as long as ``opened`` is."""
    descriptor = os.memfd_create("treadle", os.MFD_ALLOW_SEALING)
    opened.callback(os.close, descriptor)
    return descriptor


def fill(descriptor: int, content: bytes) -> None:
    """Put bytes where a descriptor is read from, and let nobody change them."""
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
