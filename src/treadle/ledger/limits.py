"""What a provider allows at once and a minute: calls in flight, requests, tokens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator


class _PerMinute:
    """A bucket that refills evenly; takers are served in order of arrival."""

    def __init__(self, per_minute: float, burst_s: float) -> None:
        self._rate = per_minute / 60.0
        self._burst = max(1.0, burst_s * self._rate)
        self._level = self._burst
        self._at: float | None = None

    def take(self, amount: float, now: float) -> float:
        """Take an amount (going into debt) and return the seconds to wait until it is covered."""
        if self._at is not None:
            self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= amount
        return max(0.0, -self._level / self._rate)

    def give_back(self, amount: float) -> None:
        self._level = min(self._burst, self._level + amount)


class ModelLimits:
    """The limits of one model, shared by everything that calls it in a session.

    Args:
        concurrency: Calls in flight at once.
        requests_per_minute: Requests started a minute, or ``None``.
        tokens_per_minute: Tokens a minute, reserved at their bound and corrected afterwards, or ``None``.
    """

    def __init__(
        self, concurrency: int, requests_per_minute: float | None = None, tokens_per_minute: float | None = None
    ) -> None:
        self.concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._requests = _PerMinute(requests_per_minute, 1.0) if requests_per_minute else None
        self._tokens = _PerMinute(tokens_per_minute, 10.0) if tokens_per_minute else None
        self._resume_at = 0.0

    def pause(self, seconds: float) -> None:
        """Start nothing new for some seconds: the provider asked everybody to wait."""
        self._resume_at = max(self._resume_at, asyncio.get_running_loop().time() + seconds)

    @contextlib.asynccontextmanager
    async def slot(self, tokens: int) -> AsyncGenerator[None]:
        """Wait for a place among the calls in flight and for the minute's allowance."""
        async with self._slots:
            loop = asyncio.get_running_loop()
            now = loop.time()
            wait = self._resume_at - now
            if self._requests is not None:
                wait = max(wait, self._requests.take(1, now))
            if self._tokens is not None:
                wait = max(wait, self._tokens.take(tokens, now))
            try:
                while wait > 0:
                    await asyncio.sleep(wait)
                    wait = self._resume_at - loop.time()
                yield
            except BaseException:
                self.correct(tokens, 0)
                raise

    def correct(self, reserved: int, used: int) -> None:
        """Give back the tokens that a call reserved and did not use."""
        if self._tokens is not None and used < reserved:
            self._tokens.give_back(reserved - used)
