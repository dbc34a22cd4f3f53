"""A model as a session uses it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from treadle.errors import QuotaError
from treadle.ledger.budget import Amount
from treadle.ledger.keys import RequestAddress
from treadle.ledger.limits import ModelLimits
from treadle.ledger.retries import RetryPolicy
from treadle.models.base import Model, ModelIdentity, Price, Request, Usage


@dataclass(slots=True)
class Endpoint:
    """A model with its settings (``max_tokens`` always among them), price, limits and health.

    Attributes:
        alias: What people call it.
        model: Who answers.
        identity: What its calls are addressed by.
        limits: What it takes at once and a minute.
        price: What it costs, or ``None``.
        settings: Sampling settings sent with every call.
        timeout_s: Wall clock of one attempt, in seconds.
        retries: When a failed call is made again.
        answered: Whether it has answered in this session.
        exhausted: The error of an account without credit, repeated without asking again.
        start: Where there is one, gets the model ready, which is no part of any call's time.
        context_window: Tokens of prompt and reply together, where that is known.
        calls_tools: Whether it calls the tools it is given.
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
    context_window: int | None = None
    calls_tools: bool = True

    def usd(self, usage: Usage | None) -> float | None:
        """What a call of this usage costs, or ``None`` when that is not known."""
        return None if self.price is None or usage is None else self.price.usd(usage)

    def bound(self, address: RequestAddress, request: Request) -> Amount:
        """The most a call can cost: bytes of everything sent as input tokens, and all of ``max_tokens``."""
        read, written = address.size, request.max_tokens
        usd = self.price.bound(read, written) if self.price else 0.0
        return Amount(1, read + written, usd)
