"""Money before the call: what a run or a question may spend, reserved before and settled after."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, fields

UNITS = ("calls", "tokens", "usd")
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps of a run or a question; ``None`` is no cap. ``seconds`` is wall clock."""

    usd: float | None = None
    calls: float | None = None
    tokens: float | None = None
    seconds: float | None = None

    def merged(self, over: Budget) -> Budget:
        """This budget with the caps of ``over`` taking its place where they are given."""
        values = {f.name: getattr(over, f.name) for f in fields(self)}
        return Budget(**{name: getattr(self, name) if v is None else v for name, v in values.items()})


@dataclass(frozen=True, slots=True)
class Amount:
    """What one call costs, or at most can cost."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0


class OverBudgetError(Exception):
    """Nothing in flight could make room for a call; turned into the run's or the question's own error.

    Args:
        unit: The unit that does not fit.
        limit: The cap.
        needed: The smallest cap under which the call would have been made.
        kept: What is set aside of the cap for later.
    """

    def __init__(self, unit: str, limit: float, needed: float, kept: float = 0.0) -> None:
        self.kept = kept
        self.unit = unit
        self.limit = limit
        self.needed = needed
        super().__init__(f"{unit} budget of {limit:g} does not cover {needed:g}")


class Reservation:
    """Room held for one call until it is settled or released."""

    __slots__ = ("amount", "settled")

    def __init__(self, amount: Amount) -> None:
        self.amount = amount
        self.settled: Amount | None = None

    def settle(self, actual: Amount) -> None:
        """Replace the reservation by what the call really cost."""
        self.settled = actual


class Account:
    """A budget being spent by many calls in flight, never exceeded by what was reserved.

    A call waits while reservations in flight could still come back, in order of arrival; it is refused only when
    nothing in flight could make room. What is not settled is released.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.spent = Amount()
        self._held = Amount()
        self._aside = Amount()
        self._caps = [(unit, float(cap)) for unit in UNITS if (cap := getattr(budget, unit)) is not None]
        self._waiting: deque[tuple[Amount, asyncio.Future[None]]] = deque()

    def set_aside(self, amount: Amount) -> None:
        """Keep an amount for later: until the next call of this, the budget is smaller by it."""
        self._aside = amount
        self._wake()

    def covers(self, amount: Amount) -> bool:
        """Whether an amount still fits beside what was spent and set aside."""
        return all(
            getattr(self.spent, unit) + getattr(self._aside, unit) + getattr(amount, unit) <= cap + _ROUNDING
            for unit, cap in self._caps
        )

    async def hold(self, amount: Amount) -> Reservation:
        """Reserve an amount, waiting for room where calls in flight may still give some back.

        Raises:
            OverBudgetError: When nothing in flight could make room.
        """
        self._refuse_if_hopeless(amount)
        if self._caps and (self._waiting or not self._fits(amount)):
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            entry = (amount, room)
            self._waiting.append(entry)
            try:
                await room
            except asyncio.CancelledError:
                if room.done() and not room.cancelled() and room.exception() is None:
                    self._held = _minus(self._held, amount)
                else:
                    self._waiting.remove(entry)
                self._wake()
                raise
            return Reservation(amount)
        self._held = _plus(self._held, amount)
        return Reservation(amount)

    def close(self, reservation: Reservation) -> None:
        """End a reservation: what was settled is spent, the rest is free again."""
        self._held = _minus(self._held, reservation.amount)
        if reservation.settled is not None:
            self.spent = _plus(self.spent, reservation.settled)
        self._wake()

    @contextlib.contextmanager
    def closing(self, reservation: Reservation) -> Generator[Reservation]:
        """Close a reservation however its block ends."""
        try:
            yield reservation
        finally:
            self.close(reservation)

    def _fits(self, amount: Amount) -> bool:
        return all(
            getattr(self.spent, unit) + getattr(self._held, unit) + getattr(amount, unit)
            <= cap - getattr(self._aside, unit) + _ROUNDING
            for unit, cap in self._caps
        )

    def _refuse_if_hopeless(self, amount: Amount) -> None:
        for unit, cap in self._caps:
            needed = getattr(self.spent, unit) + getattr(amount, unit) + getattr(self._aside, unit)
            if needed > cap + _ROUNDING:
                raise OverBudgetError(unit, cap, needed, getattr(self._aside, unit))

    def _wake(self) -> None:
        while self._waiting:
            amount, room = self._waiting[0]
            if room.done():
                self._waiting.popleft()
                continue
            try:
                self._refuse_if_hopeless(amount)
            except OverBudgetError as error:
                self._waiting.popleft()
                room.set_exception(error)
                continue
            if not self._fits(amount):
                return
            self._waiting.popleft()
            self._held = _plus(self._held, amount)
            room.set_result(None)


def _plus(a: Amount, b: Amount) -> Amount:
    return Amount(a.calls + b.calls, a.tokens + b.tokens, a.usd + b.usd)


def _minus(a: Amount, b: Amount) -> Amount:
    return Amount(a.calls - b.calls, a.tokens - b.tokens, max(0.0, a.usd - b.usd))
