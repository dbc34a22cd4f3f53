"""One worker of Monty while it is checked out: its turns, its time and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic_monty import MontySession, SyncSnapshot

    from treadle.sandbox.monty.pool import MontyPool

T = TypeVar("T")
GRACE = 0.25
"""Seconds past its limit after which a worker is killed instead of asked."""

ANSWERS = 3.0
"""Seconds within which a worker with nothing to do has to answer."""


class OutOfTime(Exception):
    """The work's own time is used up; its worker is gone or will be."""


class WorkerLost(Exception):
    """The pool was closed while the work was in it."""


class Session:
    """A worker while it is checked out.

    Attributes:
        seconds: What the work's own time may come to.
        used: What it has come to: the worker's turns, and what the work slept; not its waiting for the host.
    """

    def __init__(self, pool: MontyPool, raw: MontySession, seconds: float) -> None:
        self.seconds = seconds
        self.used = 0.0
        self.pid = raw.worker_pid
        self._pool = pool
        self._raw = raw
        self._turn: asyncio.Future[Any] | None = None
        self._closed = False

    async def start(
        self,
        source: str,
        printed: Callable[[str, str], None],
        inputs: Mapping[str, object] | None = None,
        *,
        check: bool = False,
    ) -> SyncSnapshot:
        """Run source until it is done or wants something of the host.

        Args:
            source: What to run.
            printed: Takes what it prints: ``"stdout"`` or ``"stderr"``, and text; called in a thread.
            inputs: Names that it finds bound, with their values.
            check: Whether its types are checked first, in a session that was given stubs.

        Raises:
            MontyError: It failed, or is refused.
            OutOfTime: Its seconds are used up.
            WorkerLost: The pool was closed.
        """
        return await self.turn(
            lambda: self._raw.feed_start(
                source, inputs=dict(inputs or {}), print_callback=printed, skip_type_check=not check
            )
        )

    async def turn(self, step: Callable[[], T]) -> T:
        """Let the worker go on until it has to wait; as many do at one time as there are processors.

        Args:
            step: What makes it go on, run in a thread.

        Raises:
            OutOfTime: The work has used up its seconds.
            WorkerLost: The pool was closed.
        """
        async with self._pool.turns:
            left = self.seconds - self.used
            if self._pool.closed:
                raise WorkerLost
            if left <= 0 and self.used > 0:
                raise OutOfTime
            started = time.perf_counter()
            self._turn = asyncio.get_running_loop().run_in_executor(self._pool.threads(), step)
            try:
                done, _ = await asyncio.wait({self._turn}, timeout=left + GRACE)
            except asyncio.CancelledError:
                await self._end_turn()
                raise
            if not done:
                await self._end_turn()
            self.used += time.perf_counter() - started
        if self._pool.closed:
            raise WorkerLost
        if not done:
            raise OutOfTime
        return self._turn.result()

    def kill(self) -> None:
        """End the worker at once."""
        pid, self.pid = self.pid, None
        end_process(pid)

    async def close(self) -> None:
        """Give the worker back; may be called twice."""
        if not self._closed:
            self._closed = True
            if self._turn is not None and not self._turn.done():
                await self._end_turn()
            leaving = asyncio.get_running_loop().run_in_executor(
                self._pool.threads(), self._raw.__exit__, None, None, None
            )
            timer = asyncio.get_running_loop().call_later(ANSWERS, self.kill)
            await finished(leaving)
            timer.cancel()
            if self.pid is not None:
                self._pool.idle.add(self.pid)

    async def _end_turn(self) -> None:
        self.kill()
        if self._turn is not None:
            await finished(self._turn)
            self._turn.exception()


def end_process(pid: int | None) -> None:
    """Kill a worker, if it is still there."""
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


async def finished(work: asyncio.Future[Any]) -> None:
    """Wait for work that ends soon, whoever is cancelled meanwhile; its own errors stay in it."""
    cancelled = False
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
