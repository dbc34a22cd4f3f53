"""One logical call: remembered, shared while in flight, or made."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from random import Random

from treadle.ledger.budget import OverBudgetError
from treadle.ledger.endpoint import Endpoint
from treadle.ledger.flights import Flights
from treadle.ledger.journal import Journal
from treadle.ledger.keys import RequestAddress
from treadle.ledger.paying import Cashier, Order, replayed
from treadle.ledger.purse import Purse
from treadle.models.base import Completion, Request

_REMEMBERED = 20_000


class Caller:
    """Makes logical calls for everything in a session.

    A call that was made before is read from the store; identical calls in flight are made once and paid by the first
    that asked; a finished call is committed before anybody sees it.
    """

    def __init__(self, journal: Journal, rng: Random) -> None:
        self._journal = journal
        self._cashier = Cashier(journal, rng)
        self._flights: Flights[Completion] = Flights()
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
            first = order.key not in self._flights
            try:
                completion = await self._flights.share(
                    order.key, purse.clock, lambda sent: self._cashier.make(order, sent)
                )
            except OverBudgetError:
                # Somebody else's budget says nothing of this one: ask again, on one's own account.
                if first:
                    raise
                continue
            self._remember(order.key, completion)
            return completion if first else replace(completion, cached=True, usd=endpoint.usd(completion.usage))

    def forget(self) -> None:
        """Drop what is remembered in memory; the store still has it."""
        self._recent.clear()

    async def aclose(self) -> None:
        """End all calls in flight."""
        await self._flights.aclose()

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

    def _remember(self, key: str, completion: Completion) -> None:
        self._recent[key] = completion
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
