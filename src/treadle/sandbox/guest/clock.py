"""The time that a test may take, kept by an alarm."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_signal: Any = __import__("_signal")
"""What `signal` is made of; that takes 3 ms to import."""

_AGAIN = 0.25
"""Seconds after which a clock that ran out says so again: a test may have swallowed it."""


class Overdue(BaseException):
    """The clock of a test ran out."""


class Clock:
    """Ends a test that takes too long."""

    def __init__(self, total: float, each: float | None) -> None:
        self._end = time.monotonic() + total
        self._each = each
        self.said = ""
        self.ran_out = False
        self._running = False
        self._at = 0.0
        _signal.signal(_signal.SIGALRM, self._ring)

    @property
    def over(self) -> bool:
        """Whether no time is left for any test."""
        return time.monotonic() >= self._end

    def start(self) -> None:
        """Begin a test."""
        left = max(0.001, self._end - time.monotonic())
        limited = self._each is not None and self._each < left
        seconds = self._each if limited and self._each is not None else left
        self.said = f"within {seconds:g} s" if limited else "before the time of the whole run was over"
        self.ran_out, self._running = False, True
        self._at = time.monotonic() + seconds
        _signal.setitimer(_signal.ITIMER_REAL, seconds, _AGAIN)

    def stop(self) -> None:
        """End a test."""
        self._running = False
        _signal.setitimer(_signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: object) -> None:
        if self._running and time.monotonic() >= self._at:
            self.ran_out = True
            raise Overdue
