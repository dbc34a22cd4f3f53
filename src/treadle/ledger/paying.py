"""Making a call for real: reserved, limited, timed, retried, settled, and committed before anybody sees it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from treadle.errors import (
    CallTimeoutError,
    ContextLengthError,
    EndpointError,
    ProviderError,
    QuotaError,
    RejectedError,
    TreadleError,
    UnreachableError,
)
from treadle.ledger.budget import Amount, Reservation
from treadle.ledger.endpoint import Endpoint
from treadle.ledger.journal import Journal
from treadle.ledger.keys import RequestAddress
from treadle.ledger.purse import Purse
from treadle.models.base import Completion, FinishReason, Request, ToolCall, Usage
from treadle.store.base import CallRecord, EventRecord
from treadle.store.text import decode, encode

UNKEPT = "unkept"
"""Kind of the events of calls that were paid for and are not kept: never answered, or made by another process too."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The part of a completion that is stored."""

    text: str
    usage: Usage | None
    finish_reason: FinishReason
    tool_calls: tuple[ToolCall, ...] = ()
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """A call that is to be made."""

    key: str
    endpoint: Endpoint
    address: RequestAddress
    request: Request
    purse: Purse


def replayed(record: CallRecord, endpoint: Endpoint) -> Completion:
    """A recorded call as a completion, at the price that its endpoint has now."""
    kept = decode(record.completion, Recorded)
    return Completion(
        kept.text,
        kept.usage,
        kept.finish_reason,
        kept.tool_calls,
        record.seconds,
        endpoint.usd(kept.usage),
        cached=True,
        estimated=kept.estimated,
    )


class Cashier:
    """Makes calls and pays for them.

    Every attempt is reserved for itself. One that was sent and never answered (its time ran out, or nobody waits for
    it any more) may have been billed: it settles at its reservation.
    """

    def __init__(self, journal: Journal, rng: Random) -> None:
        self._journal = journal
        self._rng = rng

    async def make(self, order: Order, sent: Callable[[], None]) -> Completion:
        """Make a call, with as many attempts as can help.

        Args:
            order: The call.
            sent: Told when an attempt leaves the queue.

        Raises:
            ProviderError: After the last attempt.
            EndpointError: When an endpoint that has never answered refuses for good.
            OverBudgetError: When the account cannot cover an attempt.
        """
        endpoint = order.endpoint
        attempt = 0
        while True:
            attempt += 1
            if endpoint.exhausted is not None:
                raise endpoint.exhausted
            try:
                return await self._attempt(order, sent, attempt)
            except ProviderError as error:
                wait = endpoint.retries.wait(error, attempt, endpoint.answered, self._rng)
                if wait is None:
                    raise _final(endpoint, error) from error
                if error.retry_after is not None:
                    endpoint.limits.pause(wait)
                order.purse.retried(1)
                await asyncio.sleep(wait)

    async def _attempt(self, order: Order, sent: Callable[[], None], attempt: int) -> Completion:
        endpoint, purse = order.endpoint, order.purse
        most = endpoint.bound(order.address, order.request)
        with purse.account.closing(await purse.account.hold(most)) as reservation:
            async with endpoint.limits.slot(most.tokens):
                if endpoint.start is not None:
                    await endpoint.start()
                sent()
                completion = await self._asked(order, reservation, most)
            endpoint.answered = True
            if completion.usage is None:
                usage = Usage(order.address.size, output=order.request.max_tokens)
                completion = replace(completion, usage=usage, estimated=True)
            usage = completion.usage or Usage()
            text = self._journal.cleaned(completion.text)
            completion = replace(completion, text=text, usd=endpoint.usd(usage))
            endpoint.limits.correct(most.tokens, usage.total)
            reservation.settle(Amount(1, usage.total, completion.usd or 0.0))
            purse.paid(completion, order.request.max_tokens)
            return await self._kept(order, completion, attempt)

    async def _asked(self, order: Order, reservation: Reservation, most: Amount) -> Completion:
        endpoint = order.endpoint
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(endpoint.timeout_s):
                completion = await endpoint.model.complete(order.request)
        except (TimeoutError, CallTimeoutError, asyncio.CancelledError) as error:
            reservation.settle(most)
            usage = Usage(order.address.size, output=order.request.max_tokens)
            order.purse.lost(usage, endpoint.usd(usage))
            self._journal.write(_unkept(order, usage, endpoint.usd(usage)))
            if isinstance(error, TimeoutError):
                raise CallTimeoutError(
                    f"{endpoint.alias} did not finish within {endpoint.timeout_s:g} s; raise timeout_s if it needs more"
                ) from error
            raise
        except TreadleError:
            raise
        except Exception as error:
            raise ProviderError(f"{endpoint.alias}: the model's own code raised {error!r}") from error
        return completion if completion.seconds else replace(completion, seconds=round(loop.time() - started, 6))

    async def _kept(self, order: Order, completion: Completion, attempt: int) -> Completion:
        """Commit a call; where another process was first, what it got is what everybody gets."""
        usage = completion.usage or Usage()
        kept = Recorded(completion.text, usage, completion.finish_reason, completion.tool_calls, completion.estimated)
        record = CallRecord(
            order.key,
            order.purse.run,
            str(order.endpoint.identity),
            order.request.draw,
            order.address.body,
            encode(kept),
            completion.seconds,
            completion.usd,
            attempt,
            time.time(),
        )
        if await self._journal.write(record):
            return completion
        await self._journal.write(_unkept(order, usage, completion.usd))
        first = await self._journal.call(order.key)
        return completion if first is None else replace(replayed(first, order.endpoint), cached=False)


def _unkept(order: Order, usage: Usage, usd: float | None) -> EventRecord:
    payload = encode({"tokens": usage.total, "usd": usd})
    return EventRecord(order.purse.run, UNKEPT, order.key, time.time(), payload)


def _final(endpoint: Endpoint, error: ProviderError) -> Exception:
    if isinstance(error, QuotaError):
        endpoint.exhausted = error
        return error
    hopeless = isinstance(error, UnreachableError) or (
        isinstance(error, RejectedError)
        and not isinstance(error, ContextLengthError)
        and error.status is not None
        and error.status not in (400, 413, 422)
    )
    return EndpointError(str(error)) if hopeless and not endpoint.answered else error
