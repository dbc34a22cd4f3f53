"""Ctrl-C and SIGTERM: the first ends the work and keeps its report, the second ends the process; 2 s at most."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType

from treadle.cli.codes import INTERRUPTED

_GRACE_S = 1.6
"""From the first signal to the end of the process, however stuck; leaves room within the 2 s that are promised."""
_STUCK_S = 0.3
"""A loop that has not turned for so long after a signal is held by blocking code."""
_STUCK_AGAIN_S = 0.02
"""The same, once it was held: more of the same code may stand in line."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """What signals do to a running loop.

    Code that blocks the loop (a script that sleeps, a user's function that computes) is broken open by raising
    `asyncio.CancelledError` inside it, so that the partial report can still be written. What cannot be broken open is
    left behind: a thread ends the process when the grace is over.

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
        """Take the signals for as long as the block runs; only the main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        breaking = hasattr(signal, "setitimer")
        if breaking:
            before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._on_alarm)
        try:
            yield
        finally:
            if breaking:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for number, previous in before.items():
                signal.signal(number, previous)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.happened:
            leave()
        self.happened = True
        watchdog = threading.Timer(_GRACE_S, _give_up)
        watchdog.daemon = True
        watchdog.start()
        self._turned = self._loop.time()
        self._loop.call_soon_threadsafe(self._turn)
        self._loop.call_soon_threadsafe(self._interrupt)
        self._set_alarm()

    def _set_alarm(self) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, self._patience, self._patience / 2)

    def _turn(self) -> None:
        self._turned = self._loop.time()
        self._loop.call_later(_STUCK_AGAIN_S / 4, self._turn)

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        stuck = self._loop.time() - self._turned > self._patience
        inside = asyncio.current_task(self._loop)
        if stuck and inside is not None and inside is not self._main:
            self._interrupt()
            self._patience = _STUCK_AGAIN_S
            self._set_alarm()
            raise asyncio.CancelledError


def _give_up() -> None:
    """Leave code behind that does not let go."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        sys.stderr.write("treadle: interrupted, and the work did not let go; `treadle runs` has what was kept\n")
    leave()


def leave(code: int = INTERRUPTED) -> None:
    """End the process and its children now; what was written so far is flushed."""
    for pid in _descendants(os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h\n")
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _descendants(pid: int) -> list[int]:
    """Every process below one, where the system tells (Linux)."""
    found: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in listing.read_text(encoding="ascii").split():
                found += [int(child), *_descendants(int(child))]
    return found
