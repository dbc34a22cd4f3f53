"""One logical call: remembered, shared while in flight, paid for, limited, retried, recorded."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from treadle.errors import (
    CallTimeoutError,
    ConnectionFailedError,
    EndpointError,
    ProviderError,
    QuotaError,
    RejectedError,
    TreadleError,
)
from treadle.ledger.budget import Account, Amount
from treadle.ledger.journal import Journal
from treadle.ledger.keys import RequestAddress
from treadle.ledger.limits import ModelLimits
from treadle.ledger.retries import RetryPolicy
from treadle.models.base import Completion, FinishReason, Model, ModelIdentity, Price, Request, ToolCall, Usage
from treadle.store.base import CallRecord
from treadle.store.text import decode, encode

_REMEMBERED = 20_000


@dataclass(slots=True)
class Endpoint:
    """A model as a session uses it: with its settings (``max_tokens`` always among them), price, limits and health.

    ``answered`` is whether it has answered in this session; ``exhausted`` is the error of an account without credit,
    repeated without asking again; ``identity`` is what the model's calls are addressed by; ``start``, where there is
    one, gets the model ready, which is no part of any call's time.
    """

    alias: str
    model: Model
    identity: ModelIdentity
    limits: ModelLimits
    price: Price | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    timeout_s: float = 600.0
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    answered: bool = False
    exhausted: QuotaError | None = None
    start: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The part of a completion that is stored."""

    text: str
    usage: Usage | None
    finish_reason: FinishReason
    tool_calls: tuple[ToolCall, ...] = ()
    estimated: bool = False


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[tuple[Completion, int]]
    waiters: int = 0


def _price(endpoint: Endpoint, usage: Usage | None) -> float | None:
    return None if endpoint.price is None or usage is None else endpoint.price.usd(usage)


def recorded_usage(record: CallRecord) -> Usage:
    """The tokens of a recorded call."""
    return decode(record.completion, Recorded).usage or Usage()


def bound(endpoint: Endpoint, address: RequestAddress, request: Request) -> Amount:
    """The most a call can cost: bytes of everything sent as input tokens, and all of ``max_tokens``."""
    read, written = address.size, request.max_tokens
    usd = endpoint.price.bound(read, written) if endpoint.price else 0.0
    return Amount(1, read + written, usd)


class Caller:
    """Makes logical calls for everything in a session.

    A call that was made before is read from the store; identical calls in flight are made once and paid by the first
    that asked; a finished call is committed before anybody sees it.
    """

    def __init__(self, journal: Journal, rng: Random) -> None:
        self._journal = journal
        self._rng = rng
        self._flights: dict[str, _Flight] = {}
        self._recent: OrderedDict[str, Completion] = OrderedDict()

    async def call(
        self,
        endpoint: Endpoint,
        address: RequestAddress,
        request: Request,
        account: Account,
        run: str,
        unclaimed: set[str],
    ) -> tuple[Completion, int]:
        """Answer one request from the store or from the model.

        Args:
            endpoint: Who answers.
            address: The request's address.
            request: The request.
            account: What pays.
            run: The run that pays.
            unclaimed: Keys of calls that this run paid for before it was resumed; each counts as paid once.

        Returns:
            The completion (``cached`` unless this caller is the one that paid) and how often it was retried.

        Raises:
            ProviderError: After the last attempt.
            EndpointError: When an endpoint that has never answered refuses for good.
            OverBudgetError: When the account cannot cover the call.
        """
        key = address.key(request.draw)
        known = self._recent.get(key)
        if known is None:
            record = await self._journal.call(key)
            if record is not None:
                return self._replayed(endpoint, record, unclaimed)
            known = self._recent.get(key)
        if known is not None:
            return replace(known, cached=True), 0
        flight = self._flights.get(key)
        first = flight is None
        if flight is None:
            task = asyncio.create_task(self._pay(key, endpoint, address, request, account, run))
            flight = self._flights[key] = _Flight(task)
        completion, retried = await self._board(key, flight)
        return (completion, retried) if first else (replace(completion, cached=True), 0)

    def forget(self) -> None:
        """Drop what is remembered in memory; the store still has it."""
        self._recent.clear()

    async def aclose(self) -> None:
        """End all calls in flight."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _board(self, key: str, flight: _Flight) -> tuple[Completion, int]:
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if flight.task.done():
                if self._flights.get(key) is flight:
                    del self._flights[key]
            elif flight.waiters == 0:
                # Nobody is left who wants it; whoever asks next starts anew instead of boarding a cancelled flight.
                del self._flights[key]
                flight.task.cancel()

    @staticmethod
    def _replayed(endpoint: Endpoint, record: CallRecord, unclaimed: set[str]) -> tuple[Completion, int]:
        kept = decode(record.completion, Recorded)
        own = record.key in unclaimed
        unclaimed.discard(record.key)
        completion = Completion(
            kept.text,
            kept.usage,
            kept.finish_reason,
            kept.tool_calls,
            record.seconds,
            _price(endpoint, kept.usage),
            cached=not own,
            estimated=kept.estimated,
        )
        return completion, record.attempts - 1 if own else 0

    async def _pay(
        self, key: str, endpoint: Endpoint, address: RequestAddress, request: Request, account: Account, run: str
    ) -> tuple[Completion, int]:
        most = bound(endpoint, address, request)
        with account.closing(await account.hold(most)) as reservation:
            completion, attempts = await self._attempts(endpoint, request, most.tokens)
            if completion.usage is None:
                usage = Usage(address.size, output=request.max_tokens)
                completion = replace(completion, usage=usage, estimated=True)
            usage = completion.usage or Usage()
            completion = replace(completion, usd=_price(endpoint, usage))
            endpoint.limits.correct(most.tokens, usage.total)
            reservation.settle(Amount(1, usage.total, completion.usd or 0.0))
            record = CallRecord(
                key,
                run,
                str(endpoint.identity),
                request.draw,
                address.body,
                encode(
                    Recorded(
                        completion.text, usage, completion.finish_reason, completion.tool_calls, completion.estimated
                    )
                ),
                completion.seconds,
                completion.usd,
                attempts,
                time.time(),
            )
            await self._journal.write(record)
        self._recent[key] = completion
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
        return completion, attempts - 1

    async def _attempts(self, endpoint: Endpoint, request: Request, tokens: int) -> tuple[Completion, int]:
        attempt = 0
        while True:
            attempt += 1
            try:
                if endpoint.exhausted is not None:
                    raise endpoint.exhausted
                completion = await self._attempt(endpoint, request, tokens)
            except ProviderError as error:
                wait = endpoint.retries.wait(error, attempt, endpoint.answered, self._rng)
                if wait is None:
                    raise self._final(endpoint, error) from error
                if error.retry_after is not None:
                    endpoint.limits.pause(wait)
                await asyncio.sleep(wait)
                continue
            endpoint.answered = True
            return completion, attempt

    @staticmethod
    async def _attempt(endpoint: Endpoint, request: Request, tokens: int) -> Completion:
        loop = asyncio.get_running_loop()
        async with endpoint.limits.slot(tokens):
            if endpoint.start is not None:
                await endpoint.start()
            started = loop.time()
            try:
                async with asyncio.timeout(endpoint.timeout_s):
                    completion = await endpoint.model.complete(request)
            except TimeoutError as error:
                raise CallTimeoutError(
                    f"{endpoint.alias} did not finish within {endpoint.timeout_s:g} s; raise timeout_s if it needs more"
                ) from error
            except TreadleError:
                raise
            except Exception as error:
                raise ProviderError(f"{endpoint.alias}: the model's own code raised {error!r}") from error
        return completion if completion.seconds else replace(completion, seconds=round(loop.time() - started, 6))

    @staticmethod
    def _final(endpoint: Endpoint, error: ProviderError) -> Exception:
        if isinstance(error, QuotaError):
            endpoint.exhausted = error
            return error
        hopeless = isinstance(error, ConnectionFailedError) or (
            isinstance(error, RejectedError) and error.status is not None and error.status not in (400, 413, 422)
        )
        if hopeless and not endpoint.answered:
            return EndpointError(str(error))
        return error
