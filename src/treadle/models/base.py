"""The values that go to a model and come back from one, and the protocol every model keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "error", "unknown"]

DEFAULT_MAX_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a model asked for; ``arguments`` is the model's JSON text, unread and untrusted."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One chat turn."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call; ``parameters`` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, normalised across providers."""

    input: int = 0
    """All tokens read, cached ones and cache writes included."""
    cached_input: int = 0
    """The part of ``input`` that was read from the provider's cache."""
    cache_write: int = 0
    """The part of ``input`` that was written to the provider's cache."""
    output: int = 0
    """All tokens written, reasoning included."""
    reasoning: int = 0
    """The part of ``output`` that was reasoning."""

    @property
    def total(self) -> int:
        """Input plus output."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cached_input + other.cached_input,
            self.cache_write + other.cache_write,
            self.output + other.output,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; what is not given costs what plain input costs."""

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    above: tuple[int, Price] | None = None
    """The price of a call whose input is longer than so many tokens, where a provider has such tiers."""

    def usd(self, usage: Usage) -> float:
        """What a call of this usage costs, in US dollars."""
        if self.above is not None and usage.input > self.above[0]:
            return self.above[1].usd(usage)
        plain = usage.input - usage.cached_input - usage.cache_write
        cached = self.input if self.cached_input is None else self.cached_input
        write = self.input if self.cache_write is None else self.cache_write
        millionths = (
            plain * self.input + usage.cached_input * cached + usage.cache_write * write + usage.output * self.output
        )
        return millionths / 1e6

    def bound(self, input: int, output: int) -> float:
        """The most that a call of at most so many tokens can cost, in US dollars."""
        dearest_input = max(self.input, self.cached_input or 0.0, self.cache_write or 0.0)
        here = (input * dearest_input + output * self.output) / 1e6
        return max(here, self.above[1].bound(input, output)) if self.above and input > self.above[0] else here


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that shapes one reply.

    ``settings`` holds sampling settings by their OpenAI names (``temperature``, ``max_tokens``, ``seed``, ``stop``,
    ``top_p``, …); ``schema`` is a JSON schema the reply must follow; ``draw`` numbers independent draws of the same
    request, from 0.
    """

    model: str
    messages: tuple[Message, ...]
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    schema: Mapping[str, Any] | None = None
    tools: tuple[Tool, ...] = ()
    draw: int = 0

    @property
    def sample(self) -> int:
        """The draw number, under the name some scripts use."""
        return self.draw

    @property
    def max_tokens(self) -> int:
        """The limit of output tokens that is sent; ``max_completion_tokens`` is its other name."""
        limit = self.settings.get("max_completion_tokens", self.settings.get("max_tokens"))
        return DEFAULT_MAX_TOKENS if limit is None else int(limit)


@dataclass(frozen=True, slots=True)
class Completion:
    """One draw of a model.

    ``usage`` is ``None`` when the provider did not say; ``seconds`` is the latency that was measured when the call
    was really made, kept on replays; ``usd`` is ``None`` when the model has no price; ``estimated`` marks a usage that
    is the reservation and not the provider's word; ``parsed`` is the value read from ``text`` when a schema was given.
    """

    text: str
    usage: Usage | None = None
    finish_reason: FinishReason = "stop"
    tool_calls: tuple[ToolCall, ...] = ()
    seconds: float = 0.0
    usd: float | None = None
    cached: bool = False
    estimated: bool = False
    parsed: Any = None


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What makes two models the same for the cache: never a key, never an alias."""

    provider: str
    name: str
    endpoint: str = ""

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}" + (f" at {self.endpoint}" if self.endpoint else "")


@runtime_checkable
class Model(Protocol):
    """Something that answers a request.

    ``complete`` makes exactly one attempt. It raises a `treadle.errors.ProviderError` (its subclass says whether
    asking again can help), obeys cancellation at once, and fills ``Completion.usage`` (None when the provider is
    silent), ``finish_reason`` and ``tool_calls``; timing, price, retries, limits and caching are the ledger's. A
    simulated model may set ``seconds`` itself. ``aclose`` frees what the model holds and may be called twice.
    """

    @property
    def identity(self) -> ModelIdentity:
        """Provider, name and endpoint."""
        ...

    async def complete(self, request: Request) -> Completion:
        """Answer one request with one attempt."""
        ...

    async def aclose(self) -> None:
        """Free connections, processes and files."""
        ...


@runtime_checkable
class Served(Protocol):
    """A model whose server runs here: it is started before its first call, and knows how much it takes at once."""

    @property
    def slots(self) -> int:
        """Calls it answers at once."""
        ...

    @property
    def context_window(self) -> int:
        """Tokens of prompt and reply together."""
        ...

    @property
    def source(self) -> str:
        """The name of the file that it serves."""
        ...

    async def start(self) -> None:
        """Be ready to answer; called before every call, so quick once it is."""
        ...
