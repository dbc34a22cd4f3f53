"""One logical call: remembered, shared while in flight, or made."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from random import Random

from treadle.ledger.budget import OverBudgetError
from treadle.ledger.endpoint import Endpoint
from treadle.ledger.journal import Journal
from treadle.ledger.keys import RequestAddress
from treadle.ledger.paying import Cashier, Order, replayed
from treadle.ledger.purse import Purse
from treadle.models.base import Completion, Request

_REMEMBERED = 20_000


@dataclass(slots=True)
class _Flight:
    """A call being made, and who waits for it; their clocks stand still while it is queued."""

    task: asyncio.Task[Completion] | None = None
    waiting: int = 0
    queued: bool = True
    held: list[Purse] = field(default_factory=list[Purse])

    def sent(self) -> None:
        self.queued = False
        for purse in self.held:
            purse.clock.resume()
        self.held.clear()

    def board(self, purse: Purse) -> None:
        self.waiting += 1
        if self.queued:
            self.held.append(purse)
            purse.clock.pause()

    def leave(self, purse: Purse) -> None:
        self.waiting -= 1
        if purse in self.held:
            self.held.remove(purse)
            purse.clock.resume()


class Caller:
    """Makes logical calls for everything in a session.

    A call that was made before is read from the store; identical calls in flight are made once and paid by the first
    that asked; a finished call is committed before anybody sees it.
    """

    def __init__(self, journal: Journal, rng: Random) -> None:
        self._journal = journal
        self._cashier = Cashier(journal, rng)
        self._flights: dict[str, _Flight] = {}
        self._ending: set[asyncio.Task[Completion]] = set()
        self._recent: OrderedDict[str, Completion] = OrderedDict()

    async def call(self, endpoint: Endpoint, address: RequestAddress, request: Request, purse: Purse) -> Completion:
        """Answer one request from the store or from the model.

        Args:
            endpoint: Who answers.
            address: The request's address.
            request: The request.
            purse: What pays.

        Returns:
            The completion, ``cached`` unless this purse is the one that paid.

        Raises:
            ProviderError: After the last attempt.
            EndpointError: When an endpoint that has never answered refuses for good.
            OverBudgetError: When the purse cannot cover the call.
        """
        order = Order(address.key(request.draw), endpoint, address, request, purse)
        while True:
            known = await self._known(order)
            if known is not None:
                return known
            flight = self._flights.get(order.key)
            first = flight is None
            if flight is None:
                flight = self._depart(order)
            try:
                completion = await self._aboard(order, flight)
            except OverBudgetError:
                # Somebody else's budget says nothing of this one: ask again, on one's own account.
                if first:
                    raise
                continue
            return completion if first else replace(completion, cached=True, usd=endpoint.usd(completion.usage))

    def forget(self) -> None:
        """Drop what is remembered in memory; the store still has it."""
        self._recent.clear()

    async def aclose(self) -> None:
        """End all calls in flight."""
        for flight in self._flights.values():
            if flight.task is not None:
                flight.task.cancel()
                self._ending.add(flight.task)
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _known(self, order: Order) -> Completion | None:
        recent = self._recent.get(order.key)
        if recent is None:
            record = await self._journal.call(order.key)
            if record is not None:
                completion = replayed(record, order.endpoint)
                own = order.purse.claim(order.key, completion, record.attempts, order.request.max_tokens)
                return replace(completion, cached=False) if own else completion
            recent = self._recent.get(order.key)
        if recent is None:
            return None
        completion = replace(recent, cached=True, usd=order.endpoint.usd(recent.usage))
        own = order.purse.claim(order.key, completion, 1, order.request.max_tokens)
        return replace(completion, cached=False) if own else completion

    def _depart(self, order: Order) -> _Flight:
        flight = self._flights[order.key] = _Flight()
        flight.task = asyncio.create_task(self._cashier.make(order, flight.sent))
        return flight

    async def _aboard(self, order: Order, flight: _Flight) -> Completion:
        assert flight.task is not None
        flight.board(order.purse)
        try:
            completion = await asyncio.shield(flight.task)
            self._remember(order.key, completion)
            return completion
        finally:
            flight.leave(order.purse)
            if self._flights.get(order.key) is flight and (flight.task.done() or flight.waiting == 0):
                # With nobody left who wants it a call is ended; whoever asks next starts anew.
                del self._flights[order.key]
                if not flight.task.done():
                    flight.task.cancel()
                    self._ending.add(flight.task)
                    flight.task.add_done_callback(self._ending.discard)

    def _remember(self, key: str, completion: Completion) -> None:
        self._recent[key] = completion
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
