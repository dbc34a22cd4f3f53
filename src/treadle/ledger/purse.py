"""Who pays for a call: an account, the counts it goes into, and the question's clock that stands still meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from treadle.ledger.budget import Account
from treadle.ledger.tally import Tally
from treadle.models.base import Completion, Usage


class QuestionClock:
    """A question's time limit, which runs only while the question could get on.

    Waiting for a free slot, for the minute's allowance or for room in the budget says nothing of a question, only of
    how much else is asked at the same time; so the clock is stopped meanwhile.
    """

    def __init__(self) -> None:
        self._timeout: asyncio.Timeout | None = None
        self._pauses = 0
        self._left: float | None = None

    def watch(self, timeout: asyncio.Timeout | None) -> None:
        """Say which timeout this is the clock of; ``None`` when it is over."""
        self._timeout = timeout

    def pause(self) -> None:
        """Stop until `resume` was called as often as this."""
        self._pauses += 1
        timeout = self._running()
        end = timeout.when() if timeout is not None else None
        if timeout is not None and end is not None and self._pauses == 1:
            self._left = end - asyncio.get_running_loop().time()
            timeout.reschedule(None)

    def resume(self) -> None:
        """Run again from where it stopped, once nothing holds it any more."""
        self._pauses -= 1
        timeout = self._running()
        if timeout is not None and self._left is not None and self._pauses == 0:
            timeout.reschedule(asyncio.get_running_loop().time() + self._left)
            self._left = None

    def _running(self) -> asyncio.Timeout | None:
        return None if self._timeout is None or self._timeout.expired() else self._timeout


@dataclass(slots=True)
class Purse:
    """What pays for a call.

    Attributes:
        run: The run that pays.
        account: Its budget.
        tallies: Counts that every payment is added to, whoever still waits for the reply.
        unclaimed: Keys of calls that this run paid for before it was resumed; each counts as paid once.
        clock: The question's clock.
    """

    run: str
    account: Account
    tallies: tuple[Tally, ...] = ()
    unclaimed: set[str] = field(default_factory=set[str])
    clock: QuestionClock = field(default_factory=QuestionClock)

    def paid(self, completion: Completion, max_tokens: int) -> None:
        """Count a call that was made."""
        written = completion.usage.output if completion.usage else 0
        for tally in self.tallies:
            tally.pay(completion, overrun=max(0, written - max_tokens))

    def retried(self, attempts: int) -> None:
        """Count attempts beyond a call's first, whatever becomes of the call."""
        for tally in self.tallies:
            tally.retried += attempts

    def lost(self, most: Usage, usd: float | None) -> None:
        """Count a call that was sent and never answered: it may have been billed, so it counts at its bound."""
        for tally in self.tallies:
            tally.pay(Completion("", most, usd=usd, estimated=True))

    def claim(self, key: str, completion: Completion, attempts: int, max_tokens: int) -> bool:
        """Count a call that this run paid for before it was resumed; whether this is one."""
        if key not in self.unclaimed:
            return False
        self.unclaimed.discard(key)
        self.paid(completion, max_tokens)
        self.retried(attempts - 1)
        return True
