"""A real HTTP server on loopback that speaks the OpenAI protocol as told: for tests of clients, here and elsewhere.

async with ModelServer([Status(429, headers={"Retry-After": "0"}), Reply("four")]) as server:
    model = OpenAIModel("any", base_url=server.base_url)
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, cast

import msgspec
from aiohttp import web

from treadle.models.base import ToolCall, Usage

_HTML = b"<!doctype html><html><head><title>Welcome</title></head><body>It works</body></html>"


@dataclass(frozen=True, slots=True)
class Reply:
    """A proper reply; as server-sent events in ``pieces`` pieces when the request asks for a stream."""

    text: str = "ok"
    usage: Usage | None = Usage(10, 0, 0, 5)
    finish_reason: str = "stop"
    tool_calls: tuple[ToolCall, ...] = ()
    delay_s: float = 0.0
    pieces: int = 3


@dataclass(frozen=True, slots=True)
class Status:
    """An error status; ``body`` is JSON, or text as it is."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Body:
    """Exactly these bytes."""

    content: bytes
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Events:
    """A stream of exactly these events (JSON values, or lines as they are), then ``[DONE]`` if ``done``."""

    events: tuple[Any, ...]
    done: bool = True
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Drip:
    """A proper reply, one byte at a time."""

    interval_s: float
    text: str = "ok"


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing at all, or (``after_headers``) the headers and then nothing."""

    after_headers: bool = False


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset, after the headers and half a body if ``halfway``."""

    halfway: bool = False


Behaviour = Reply | Status | Body | Events | Drip | Hang | Reset
HTML = Body(_HTML, "text/html")
MALFORMED = Body(b'{"choices": [{"message": {"content": "o')


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived; header names in lower case, ``body`` the JSON value."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


Script = Behaviour | list[Behaviour] | tuple[Behaviour, ...] | Callable[[Received], Behaviour | Awaitable[Behaviour]]


class ModelServer:
    """A server that behaves as its script says, on a free port of the loopback device.

    Args:
        script: One behaviour for every request; a sequence, one after the other, the last one for all the rest; or a
            function of what was received.

    ``requests`` keeps what was received, ``peak`` the most requests that were open at once, ``cut_off`` how many were
    abandoned by their client.
    """

    def __init__(self, script: Script = Reply()) -> None:  # noqa: B008
        self.script = script
        self.requests: list[Received] = []
        self.peak = 0
        self.cut_off = 0
        self._open = 0
        self._changed = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self.origin = ""

    @property
    def base_url(self) -> str:
        """What a client takes as the root of the API."""
        return f"{self.origin}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/v1/models", self._models)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=4096)
        await site.start()
        port = cast("tuple[str, int]", self._runner.addresses[0])[1]
        self.origin = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def until(self, true: Callable[[], bool], timeout_s: float = 5.0) -> None:
        """Wait until something holds of what the server has seen.

        Raises:
            TimeoutError: It did not come true in time.
        """
        async with asyncio.timeout(timeout_s):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def _models(self, _: web.Request) -> web.Response:
        return _json({"object": "list", "data": [{"id": "any", "object": "model"}]})

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = cast("dict[str, Any]", msgspec.json.decode(content) if content else {})
        received = Received(len(self.requests), request.path, headers, body)
        self.requests.append(received)
        self._open += 1
        self.peak = max(self.peak, self._open)
        self._changed.set()
        try:
            return await self._behave(request, received, await self._next(received))
        except (asyncio.CancelledError, ConnectionError):
            self.cut_off += 1
            raise
        finally:
            self._open -= 1
            self._changed.set()

    async def _next(self, received: Received) -> Behaviour:
        script = self.script
        if callable(script):
            behaviour = script(received)
            return await behaviour if isinstance(behaviour, Awaitable) else behaviour
        if isinstance(script, (list, tuple)):
            return script[min(received.number, len(script) - 1)]
        return script

    async def _behave(self, request: web.Request, received: Received, behaviour: Behaviour) -> web.StreamResponse:
        match behaviour:
            case Reply():
                await asyncio.sleep(behaviour.delay_s)
                if received.body.get("stream"):
                    return await _stream(request, Events(_pieces(behaviour)))
                return _json(completion_json(behaviour))
            case Status(status, value, more):
                if isinstance(value, str):
                    return web.Response(text=value, status=status, headers=more)
                return _json({} if value is None else value, status, more)
            case Body(content, content_type, status, more):
                return web.Response(body=content, status=status, headers={"Content-Type": content_type, **more})
            case Events():
                return await _stream(request, behaviour)
            case Drip(interval, text):
                return await _drip(request, msgspec.json.encode(completion_json(Reply(text))), interval)
            case Hang(after_headers):
                if after_headers:
                    await _begun(request, "application/json")
                await asyncio.Event().wait()
            case Reset(halfway):
                await _reset(request, halfway)
        return web.Response()


def completion_json(reply: Reply) -> dict[str, Any]:
    """A reply as the protocol writes it."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or (None if reply.tool_calls else "")}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    made: dict[str, Any] = {"id": "chatcmpl-0", "object": "chat.completion", "model": "any", "choices": [choice]}
    if reply.usage is not None:
        made["usage"] = _usage_json(reply.usage)
    return made


def _usage_json(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _pieces(reply: Reply) -> tuple[Any, ...]:
    step = -(-len(reply.text) // reply.pieces) or 1
    texts = [reply.text[at : at + step] for at in range(0, len(reply.text), step)]
    deltas: list[dict[str, Any]] = [{"content": text} for text in texts]
    for index, call in enumerate(reply.tool_calls):
        middle = len(call.arguments) // 2
        first = {"name": call.name, "arguments": call.arguments[:middle]}
        deltas.append({"tool_calls": [{"index": index, "id": call.id, "function": first}]})
        rest = {"arguments": call.arguments[middle:]}
        deltas.append({"tool_calls": [{"index": index, "function": rest}]})
    events: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]})
    if reply.usage is not None:
        events.append({"choices": [], "usage": _usage_json(reply.usage)})
    return tuple(events)


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    content = msgspec.json.encode(value)
    return web.Response(body=content, status=status, headers=headers, content_type="application/json")


async def _begun(request: web.Request, content_type: str, length: int | None = None) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": content_type})
    response.content_length = length
    await response.prepare(request)
    return response


async def _stream(request: web.Request, events: Events) -> web.StreamResponse:
    response = await _begun(request, "text/event-stream")
    for event in events.events:
        await asyncio.sleep(events.delay_s)
        line = event if isinstance(event, str) else "data: " + msgspec.json.encode(event).decode()
        await response.write(f"{line}\n\n".encode())
    if events.done:
        await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


async def _drip(request: web.Request, content: bytes, interval_s: float) -> web.StreamResponse:
    response = await _begun(request, "application/json", len(content))
    for at in range(len(content)):
        await response.write(content[at : at + 1])
        await asyncio.sleep(interval_s)
    await response.write_eof()
    return response


async def _reset(request: web.Request, halfway: bool) -> None:
    if halfway:
        response = await _begun(request, "application/json", 1000)
        await response.write(b'{"choices": [')
    transport = request.transport
    assert transport is not None
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is not None:
        # Zero linger: the peer gets a reset instead of an orderly end.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
