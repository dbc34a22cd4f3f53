"""Ctrl-C and SIGTERM: the first ends the work and keeps its report, the second ends the process; 2 s at most."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import TextIO

from treadle.cli.codes import INTERRUPTED

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_KICK = getattr(signal, "SIGURG", None)
"""Wakes the main thread; ignored by default, so that one that comes late does no harm."""
_GRACE_S = 1.5
"""From the first signal to the end of the process, however stuck; leaves room within the 2 s that are promised."""
_ECHO_S = 0.1
"""A second signal so soon is the first one once more: a wrapper passes on what the terminal sends as well."""
_STUCK_S = 0.3
"""A loop that has not turned for so long after a signal is held by blocking code."""
_STUCK_AGAIN_S = 0.02
"""The same, once it was held: more of the same code may stand in line."""


class Interruption:
    """What signals do to a running loop.

    A thread of its own is told of them, since Python runs a signal's function only when the main thread gets to it.
    Code that blocks the loop (a script that sleeps, a user's function that computes) is broken open by raising
    `asyncio.CancelledError` inside it, so that the partial report can still be written. What cannot be broken open is
    left behind when the grace is over.

    Args:
        loop: The loop the command runs in.
        main: The task that writes the report; it is never broken open.
        interrupt: Ends the command's work; called in the loop.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, main: asyncio.Task[int] | None, interrupt: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._main = main
        self._interrupt = interrupt
        self._turned = 0.0
        self._patience = _STUCK_S
        self.happened = False

    @contextlib.contextmanager
    def listening(self) -> Generator[None]:
        """Take the signals for as long as the block runs, and until the end of the process once one came.

        Only the main thread can; elsewhere this does nothing.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        bell, ear = socket.socketpair()
        bell.setblocking(False)
        watcher = threading.Thread(target=self._watch, args=(ear,), name="treadle-signals", daemon=True)
        before = {number: signal.signal(number, _do_nothing) for number in _SIGNALS}
        if _KICK is not None:
            before[_KICK] = signal.signal(_KICK, self._break_open)
        bell_before = signal.set_wakeup_fd(bell.fileno(), warn_on_full_buffer=False)
        watcher.start()
        try:
            yield
        finally:
            if not self.happened:
                signal.set_wakeup_fd(bell_before)
                for number, previous in before.items():
                    signal.signal(number, previous)
                bell.send(b"\0")
                watcher.join()
                bell.close()
                ear.close()

    def _watch(self, ear: socket.socket) -> None:
        if not _heard(ear):
            return
        self.happened = True
        begun = self._turned = time.monotonic()
        self._loop.call_soon_threadsafe(self._turn)
        self._loop.call_soon_threadsafe(self._interrupt)
        while time.monotonic() - begun < _GRACE_S:
            again = bool(select.select([ear], [], [], self._patience / 2)[0]) and _heard(ear)
            if again and time.monotonic() - begun > _ECHO_S:
                leave()
            if self._stuck() and _KICK is not None:
                signal.pthread_kill(threading.main_thread().ident or 0, _KICK)
        _say(sys.stderr, "treadle: interrupted, and the work did not let go; `treadle runs` has what was kept\n")
        leave()

    def _turn(self) -> None:
        self._turned = time.monotonic()
        self._loop.call_later(_STUCK_AGAIN_S / 4, self._turn)

    def _stuck(self) -> bool:
        return time.monotonic() - self._turned > self._patience

    def _break_open(self, number: int, frame: FrameType | None) -> None:
        inside = asyncio.current_task(self._loop)
        if self._stuck() and inside is not None and inside is not self._main:
            self._interrupt()
            self._patience = _STUCK_AGAIN_S
            raise asyncio.CancelledError


def leave() -> None:
    """End the process and its children now; what was written so far is flushed."""
    for pid in _descendants(os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    _say(sys.stderr, "\x1b[?25h\n" if sys.stderr.isatty() else "")
    _say(sys.stdout, "")
    os._exit(INTERRUPTED)


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """The thread has been told already."""


def _heard(ear: socket.socket) -> bool:
    """Whether one of the signals came; a kick and the end of listening ring too."""
    return any(number in _SIGNALS for number in ear.recv(64))


def _say(stream: TextIO, text: str) -> None:
    """Write and flush, but not for long: whoever is stuck may hold the stream."""

    def write() -> None:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            stream.write(text)
            stream.flush()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    writer.join(_ECHO_S)


def _descendants(pid: int) -> list[int]:
    """Every process below one, where the system tells (Linux)."""
    found: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in listing.read_text(encoding="ascii").split():
                found += [int(child), *_descendants(int(child))]
    return found
