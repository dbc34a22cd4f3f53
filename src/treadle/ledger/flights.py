"""What is under way, made once however many wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """What stands still while something is queued."""

    def pause(self) -> None:
        """Stop until `resume` was called as often as this."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...


@dataclass(slots=True)
class _Flight(Generic[T]):
    """Something being made, and who waits for it; their clocks stand still while it is queued."""

    task: asyncio.Task[T] | None = None
    waiting: int = 0
    queued: bool = True
    held: list[Clock] = field(default_factory=list[Clock])

    def sent(self) -> None:
        self.queued = False
        for clock in self.held:
            clock.resume()
        self.held.clear()

    def board(self, clock: Clock) -> None:
        self.waiting += 1
        if self.queued:
            self.held.append(clock)
            clock.pause()

    def leave(self, clock: Clock) -> None:
        self.waiting -= 1
        if clock in self.held:
            self.held.remove(clock)
            clock.resume()


class Flights(Generic[T]):
    """Makes things of which several may be asked for at once under one key."""

    def __init__(self) -> None:
        self._flying: dict[str, _Flight[T]] = {}
        self._ending: set[asyncio.Task[T]] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._flying

    async def share(self, key: str, clock: Clock, make: Callable[[Callable[[], None]], Coroutine[Any, Any, T]]) -> T:
        """What is being made under a key, or a beginning of it.

        Args:
            key: What it is known by.
            clock: The clock of who waits; it stands still until the work leaves its queue.
            make: Does the work; calls what it is given as soon as it has left the queue.
        """
        flight = self._flying.get(key)
        if flight is None:
            flight = self._flying[key] = _Flight[T]()
            flight.task = asyncio.create_task(make(flight.sent))
        assert flight.task is not None
        flight.board(clock)
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.leave(clock)
            if self._flying.get(key) is flight and (flight.task.done() or flight.waiting == 0):
                # With nobody left who wants it, it is ended; whoever asks next starts anew.
                del self._flying[key]
                if not flight.task.done():
                    flight.task.cancel()
                    self._ending.add(flight.task)
                    flight.task.add_done_callback(self._ending.discard)

    async def settled(self) -> None:
        """Wait until everything that was ended early is really over."""
        if self._ending:
            await asyncio.wait(self._ending)

    async def aclose(self) -> None:
        """End everything that is under way."""
        for flight in self._flying.values():
            if flight.task is not None:
                flight.task.cancel()
                self._ending.add(flight.task)
        await asyncio.gather(*self._ending, return_exceptions=True)
