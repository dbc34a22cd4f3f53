"""Which process writes a run, and whether it still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def owner() -> str:
    """This process as ``host:pid:start``; the start tells it from a later process with the same pid."""
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid}:{_start(pid) or ''}"


def is_alive(owner: str) -> bool:
    """Whether the process that `owner` named still runs.

    A process of another host cannot be looked at and counts as alive, and so does, on Windows, any process; a name
    that `owner` did not write counts as dead.
    """
    host, pid, start = ["", "", *owner.rsplit(":", 2)][-3:]
    if not host or not pid.isascii() or not pid.isdigit() or int(pid) == 0:
        return False
    if host != socket.gethostname() or os.name == "nt":
        return True
    if start and _has_proc():
        return _start(int(pid)) == start
    return _answers(int(pid))


def _has_proc() -> bool:
    return Path("/proc/self/stat").exists()


def _start(pid: int) -> str | None:
    """The boot and the clock tick at which a process started; ``None`` when it is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in {"Z", "X"} else f"{boot[:8]}-{fields[18]}"


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
