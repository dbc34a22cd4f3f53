"""What belongs to one question while one workflow answers it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from treadle.errors import SampleBudgetError
from treadle.ledger.budget import Account, Amount, OverBudgetError
from treadle.ledger.caller import Endpoint, bound
from treadle.ledger.keys import RequestAddress
from treadle.ledger.strand import Path, Strand, current_strand
from treadle.ledger.tally import FreshCost, Tally
from treadle.ledger.trace import Span
from treadle.models.base import Completion, Request
from treadle.store.base import EventRecord
from treadle.store.text import encode

if TYPE_CHECKING:
    from treadle.ledger.recording import Recording

DRAW_MAP = "draws"


@dataclass(slots=True)
class Scope:
    """One question, one workflow, one repeat.

    Attributes:
        recording: The command's run that pays.
        identity: What a replay of this question is recognised by.
        draw_base: First draw of the repeat's block.
        seed: Text that seeds chance for this question.
        account: The question's own caps, or ``None``.
        tallies: Counts that every call is added to.
        cost: What the question costs fresh.
        span: The root of its trace.
        subject: What the draws of raced questions are kept under, with those of others like it.
        known_draws: The draws that this question's asks got when tasks raced, where it was answered before.
    """

    recording: Recording
    identity: str
    draw_base: int = 0
    seed: str = "0"
    account: Account | None = None
    tallies: tuple[Tally, ...] = ()
    cost: FreshCost = field(default_factory=FreshCost)
    span: Span = field(default_factory=lambda: Span((), "question"))
    root: Strand = field(init=False)
    subject: str = ""
    known_draws: Mapping[str, int] = field(default_factory=dict[str, int])
    _draws: list[tuple[Path, int, bytes, int]] = field(default_factory=list["tuple[Path, int, bytes, int]"])
    _raced: bool = False

    def __post_init__(self) -> None:
        self.root = Strand(self, owner=asyncio.current_task())

    def strand(self) -> Strand:
        """The strand of the code that is running now."""
        current = current_strand.get()
        known = current if current is not None and current.scope is self else self.root
        return known.of_task(asyncio.current_task())

    def draw(self, strand: Strand, address: RequestAddress) -> int:
        """The draw of an ask that names none.

        Where several tasks raced, the draw that each got is written down, and a replay deals them out the same way.
        """
        occurrence = strand.occurrence(address.base)
        self._raced = self._raced or strand.concurrent
        if self.known_draws:
            known = self.known_draws.get(_place(strand.path, occurrence, address.base))
            if known is not None:
                return known
        draw = strand.implicit_draw(address.base)
        while self.known_draws and draw in self.known_draws.values():
            draw = strand.implicit_draw(address.base)
        self._draws.append((strand.path, occurrence, address.base, draw))
        return draw

    async def answer(self, endpoint: Endpoint, address: RequestAddress, request: Request) -> tuple[Completion, int]:
        """Make a call within the question's caps and the run's budget.

        Raises:
            SampleBudgetError: When the question's own cap does not cover the call.
            RunLimitError: When the run's budget does not.
        """
        if self.account is None:
            return await self._call(endpoint, address, request)
        most = bound(endpoint, address, request)
        try:
            reservation = await self.account.hold(most)
        except OverBudgetError as error:
            raise SampleBudgetError(f"this question's cap is reached: {error}") from error
        with self.account.closing(reservation):
            completion, retried = await self._call(endpoint, address, request)
            used = completion.usage.total if completion.usage else most.tokens
            reservation.settle(Amount(1, used, completion.usd or 0.0))
            return completion, retried

    async def _call(self, endpoint: Endpoint, address: RequestAddress, request: Request) -> tuple[Completion, int]:
        recording = self.recording
        try:
            completion, retried = await recording.caller.call(
                endpoint, address, request, recording.account, recording.id, recording.unclaimed
            )
        except OverBudgetError as error:
            raise recording.limit_reached(error) from error
        written = completion.usage.output if completion.usage else 0
        overrun = max(0, written - request.max_tokens)
        for tally in self.tallies:
            tally.add(completion, retried=retried, overrun=overrun)
        self.cost.add(completion)
        return completion, retried

    def records(self) -> tuple[EventRecord, ...]:
        """What a replay of this question needs besides the calls."""
        if not self._raced or not self._draws:
            return ()
        draws = {_place(path, occurrence, base): draw for path, occurrence, base, draw in self._draws}
        payload = encode({"question": self.identity, "draws": {**self.known_draws, **draws}})
        return (EventRecord(self.recording.id, DRAW_MAP, self.subject, time.time(), payload),)


def _place(path: Path, occurrence: int, base: bytes) -> str:
    return f"{'.'.join(map(str, path))}:{occurrence}:{base[:8].hex()}"
