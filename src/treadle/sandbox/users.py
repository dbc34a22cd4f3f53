"""Users for work: a number of its own for each piece, as long as it runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from treadle.errors import SandboxError

_FIRST, _EACH = 1_900_000_000, 1024
_taken: set[int] = set()
_lock = threading.Lock()


def take_slot() -> int:
    """The lowest number of this process that no work has.

    Raises:
        SandboxError: All are taken.
    """
    with _lock:
        free = next((slot for slot in range(_EACH) if slot not in _taken), None)
        if free is None:
            raise SandboxError(f"more than {_EACH} programs cannot run at one time")
        _taken.add(free)
        return free


def give_slot(slot: int) -> None:
    """Give a number back; may be done twice."""
    with _lock:
        _taken.discard(slot)


@contextmanager
def slot() -> Generator[int]:
    """A number for as long as it is needed."""
    taken = take_slot()
    try:
        yield taken
    finally:
        give_slot(taken)


def spare_user(slot: int) -> int | None:
    """A user number that nobody else has, for the work in a slot; ``None`` without the privilege to become it.

    Process limits bind per user and never for root: work needs a number of its own.
    """
    if os.geteuid() != 0:
        return None
    known = min(_mapped(), 2**31)
    first = _FIRST if known > _FIRST + 2 * _EACH else max(known - 8 * _EACH, 1)
    return first + (os.getpid() * _EACH + slot) % (known - first)


@cache
def _mapped() -> int:
    try:
        rows = Path("/proc/self/uid_map").read_text().split("\n")
    except OSError:
        return 2**16
    return max((int(row.split()[0]) + int(row.split()[2]) for row in rows if row.strip()), default=2**16)
