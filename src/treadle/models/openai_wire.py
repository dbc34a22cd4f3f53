"""The OpenAI chat-completions protocol as values: requests out, replies in."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from treadle.errors import RejectedError
from treadle.models.base import Completion, FinishReason, Message, Request, Tool, ToolCall, Usage

_NOT_SENT = frozenset({"model", "messages", "max_tokens", "max_completion_tokens", "n", "stream", "seed"})
_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "error": "error",
    "eos": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "max_tokens": "length",
    "function_call": "tool_calls",
}


class _Details(msgspec.Struct):
    cached_tokens: int | float | None = None
    cache_write_tokens: int | float | None = None
    reasoning_tokens: int | float | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | float | None = None
    completion_tokens: int | float | None = None
    total_tokens: int | float | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = None


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class Said(msgspec.Struct):
    """A message, or one piece of it in a stream."""

    content: str | list[Any] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class Choice(msgspec.Struct):
    """One choice of a reply or of a piece of a stream."""

    message: Said | None = None
    delta: Said | None = None
    finish_reason: str | None = None


class Reply(msgspec.Struct):
    """A chat completion, or one piece of a stream; fields that are not used are not read."""

    choices: list[Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


_DECODER = msgspec.json.Decoder(Reply, strict=False)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    raise NotImplementedError


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)


def body_of(name: str, request: Request, limit_name: str) -> bytes:
    """Write a request as JSON in strict UTF-8; lone surrogates become U+FFFD.

    ``max_tokens`` is always sent. A ``seed`` moves with the draw, so that the draws of one request differ and stay
    repeatable. Several choices in one reply are never asked for: some servers ignore ``n`` or bill it wrongly.

    Args:
        name: The model's name at the endpoint.
        request: What to ask.
        limit_name: ``max_tokens`` or ``max_completion_tokens``.

    Raises:
        RejectedError: The settings ask for several choices, or hold what JSON cannot.
    """
    settings = request.settings
    if settings.get("n", 1) not in (1, None):
        raise RejectedError("the setting n is not supported: ask for several draws instead")
    body: dict[str, Any] = {"model": name, "messages": [_turn(message) for message in request.messages]}
    body.update((key, value) for key, value in settings.items() if key not in _NOT_SENT and value is not None)
    body["max_completion_tokens" if "max_completion_tokens" in settings else limit_name] = request.max_tokens
    if settings.get("seed") is not None:
        body["seed"] = sent_seed(request)
    if request.schema is not None:
        form = {"name": "reply", "schema": request.schema, "strict": _is_strict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if settings.get("stream"):
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    try:
        return _ENCODER.encode(body)
    except UnicodeEncodeError:
        return _ENCODER.encode(whole(msgspec.to_builtins(body, enc_hook=_plain)))
    except (TypeError, ValueError, NotImplementedError) as error:
        raise RejectedError(f"a setting or schema cannot be sent as JSON: {error}") from None


def sent_seed(request: Request) -> int:
    """The seed of one draw: seed + draw, within the 31 bits that every provider takes."""
    return (int(request.settings["seed"]) + request.draw) % 2**31


def reply_of(body: bytes) -> Reply:
    """Read a reply; escaped lone surrogates and bytes that are not UTF-8 become U+FFFD.

    Raises:
        msgspec.DecodeError: The body is not JSON, or not of the protocol's shape.
    """
    try:
        return _DECODER.decode(body)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        try:
            value = json.loads(body.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise msgspec.DecodeError(str(error)) from None
        return msgspec.convert(whole(value), Reply, strict=False)


def completion_of(said: Said, finish_reason: str | None, usage: _Usage | None) -> Completion:
    """One choice as a completion; a refusal counts as filtered content."""
    content = said.content
    text = content if isinstance(content, str) else "".join(_part(part) for part in content or ())
    finish = _FINISH.get(finish_reason or "", "unknown")
    if not text and said.refusal:
        text, finish = said.refusal, "content_filter"
    calls = tuple(_tool_call(call) for call in said.tool_calls or ())
    return Completion(text, _normal(usage) if usage is not None else None, finish, calls)


def _normal(usage: _Usage) -> Usage | None:
    if usage.prompt_tokens is None and usage.completion_tokens is None:
        return None
    read, written = _count(usage.prompt_tokens), _count(usage.completion_tokens)
    # Some providers leave reasoning out of completion_tokens and count it in the total only.
    written = max(written, _count(usage.total_tokens) - read)
    details, reasons = usage.prompt_tokens_details or _Details(), usage.completion_tokens_details or _Details()
    cached = min(_count(details.cached_tokens), read)
    written_to_cache = min(_count(details.cache_write_tokens), read - cached)
    return Usage(read, cached, written_to_cache, written, min(_count(reasons.reasoning_tokens), written))


def _count(tokens: int | float | None) -> int:
    return max(0, int(tokens)) if tokens is not None and math.isfinite(tokens) else 0


def _part(part: Any) -> str:
    text: Any = cast("dict[str, Any]", part).get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def _tool_call(call: _Call) -> ToolCall:
    function = call.function or _Function()
    arguments = function.arguments
    text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments or {}).decode()
    return ToolCall(call.id or "", function.name or "", text)


def _turn(message: Message) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_call_id is not None:
        turn["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        turn["content"] = message.content or None
        turn["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return turn


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _is_strict(schema: Any) -> bool:
    """Whether a schema keeps the rules of strict mode: every object closed, every property required."""
    if isinstance(schema, Mapping):
        node = cast("Mapping[str, Any]", schema)
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            names = set(cast("Mapping[str, Any]", properties))
            if node.get("additionalProperties") is not False or set(node.get("required", ())) != names:
                return False
        elif node.get("type") == "object":
            return False
        return all(_is_strict(part) for part in node.values())
    if isinstance(schema, (list, tuple)):
        return all(_is_strict(part) for part in cast("list[Any]", schema))
    return True


def whole(value: Any) -> Any:
    """A value with every surrogate pair joined and every lone surrogate replaced by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {whole(key): whole(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [whole(item) for item in cast("list[Any]", value)]
    return value
