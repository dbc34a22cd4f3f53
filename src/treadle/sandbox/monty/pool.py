"""Workers that run small programs in Monty, an interpreter of Python without files, network or processes.

Every worker is a process of its own. One that is waiting for functions of the host keeps its memory, so it is memory
that bounds the pool, not a number of workers.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from treadle.errors import SandboxError
from treadle.sandbox.base import MIB, Limits
from treadle.sandbox.monty.session import ANSWERS, GRACE, Session, end_process, finished

if TYPE_CHECKING:
    from collections.abc import Generator

    from pydantic_monty import Monty, MontySession

_WORKER_MEMORY = 16 * MIB
_SOME_MEMORY = 4096 * MIB
_ANY_NUMBER = 10**9
_MOST_PROCESSES = 10**5
_MOST_THREADS = 512
_inside: ContextVar[tuple[int, ...]] = ContextVar("treadle_monty_pools", default=())


def monty_version() -> str:
    """The version of Monty that is installed.

    Raises:
        SandboxError: None is.
    """
    with _installed():
        import pydantic_monty

        return pydantic_monty.__version__


class MontyPool:
    """Workers of Monty, started when they are needed and used again without any state of what ran before.

    Args:
        memory: Bytes that all work in it may take together; half of this machine's, where it is not given. Work that
            may take more than is left waits, in the order in which it came, until enough is given back. Work inside a
            host function that waits for other work of the same pool does not wait: both would for ever.

    Attributes:
        turns: Bounds how many workers run at one time; those that wait for the host do not count.
        closed: Whether it takes no more work.
        sound: Hashes of code that was checked and found without fault.
        idle: Workers that have nothing to do.
    """

    def __init__(self, *, memory: int | None = None) -> None:
        self.memory = memory if memory is not None else _half_of_this_machine()
        self.turns = asyncio.Semaphore(os.cpu_count() or 1)
        self.closed = False
        self.sound: set[int] = set()
        self.idle: set[int | None] = set()
        self._held = 0
        self._door = asyncio.Lock()
        self._freed = asyncio.Event()
        self._sessions: set[Session] = set()
        self._monty: Monty | None = None
        self._threads: ThreadPoolExecutor | None = None

    @asynccontextmanager
    async def checkout(self, limits: Limits, *, stubs: str | None = None) -> AsyncGenerator[Session]:
        """Take a worker with nothing in it; it goes back, or is ended where it cannot be used again.

        Args:
            limits: ``seconds``, ``cpu_seconds`` and ``memory`` hold.
            stubs: Where given, what is run is type-checked first, with these declarations.

        Raises:
            SandboxError: Monty is not there, or the pool is closed.
        """
        size = _WORKER_MEMORY + limits.memory
        await self._admit(size)
        token = _inside.set((*_inside.get(), id(self)))
        try:
            session = await self._session(limits, stubs)
            try:
                yield session
            finally:
                self._sessions.discard(session)
                await session.close()
        finally:
            with suppress(ValueError):  # closed in another task's context, as a generator that is dropped is
                _inside.reset(token)
            self._held -= size
            self._freed.set()

    async def aclose(self) -> None:
        """End every worker, also those at work; may be called twice."""
        self.closed = True
        self._freed.set()
        sessions, self._sessions = list(self._sessions), set()
        for session in sessions:
            session.kill()
        await asyncio.gather(*(session.close() for session in sessions))
        if self._monty is not None:
            self._monty.__exit__(None, None, None)
            self._monty = None
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    def threads(self) -> ThreadPoolExecutor:
        """Where turns of workers are waited for."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="monty")
        return self._threads

    async def _admit(self, size: int) -> None:
        if id(self) not in _inside.get():
            async with self._door:
                while self._held and self._held + size > self.memory and not self.closed:
                    self._freed.clear()
                    await self._freed.wait()
                self._held += size
        else:
            self._held += size

    async def _session(self, limits: Limits, stubs: str | None) -> Session:
        seconds = limits.seconds if limits.cpu_seconds is None else min(limits.seconds, limits.cpu_seconds)
        while not self.closed:
            with _installed():
                raw = self._started().checkout(
                    limits={
                        "max_feed_duration_secs": max(seconds, 0.0),
                        "max_memory": limits.memory,
                        "max_suspensions": _ANY_NUMBER,
                    },
                    type_check=stubs is not None,
                    type_check_stubs=stubs,
                    type_check_format="gitlab",
                    os_policy={"sleep": "call_host"},
                )
                if await self._entered(raw):
                    session = Session(self, raw, seconds)
                    self._sessions.add(session)
                    return session
        raise SandboxError("this pool of Monty's workers is closed; open another")

    async def _entered(self, raw: MontySession) -> bool:
        """Whether a worker answered; one that does not is ended, with all others that have nothing to do."""
        from pydantic_monty import MontyError

        entering = asyncio.get_running_loop().run_in_executor(self.threads(), raw.__enter__)
        try:
            done, _ = await asyncio.wait({entering}, timeout=ANSWERS)
        except asyncio.CancelledError:
            await self._left(raw, entering)
            raise
        if not done or self.closed:
            await self._left(raw, entering)
            return False
        try:
            entering.result()
        except MontyError:
            return False
        self.idle.discard(raw.worker_pid)
        return True

    async def _left(self, raw: MontySession, entering: asyncio.Future[MontySession]) -> None:
        for pid in self.idle:
            end_process(pid)
        self.idle.clear()
        await finished(entering)
        if entering.exception() is None:
            end_process(raw.worker_pid)
            raw.__exit__(None, None, None)

    def _started(self) -> Monty:
        if self._monty is None:
            import pydantic_monty

            pool = pydantic_monty.Monty(
                min_processes=0, max_processes=_MOST_PROCESSES, feed_duration_limit_grace=2 * GRACE
            )
            self._monty = pool.__enter__()
        return self._monty


@contextmanager
def _installed() -> Generator[None]:
    remedy = "install it with: pip install 'treadle[sandbox]'"
    try:
        yield
    except ImportError as error:
        raise SandboxError(f"the sandbox monty needs pydantic-monty, which is not installed; {remedy}") from error
    except FileNotFoundError as error:
        raise SandboxError(f"pydantic-monty is installed without its program monty; {remedy}") from error


def _half_of_this_machine() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return _SOME_MEMORY
