"""What a provider's refusal means: HTTP status, headers and body to one typed error with its remedy."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from treadle.errors import ContextLengthError, ProviderError, QuotaError, RateLimitError, RejectedError, ServerError
from treadle.redaction import REDACTED, redact

WORDS_SHOWN = 300
_WORDS_READ = 20_000
_SHORTEST_SECRET = 4
# Servers also echo keys with their middle starred out, and others' keys.
_ECHOED_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][A-Za-z0-9*.…_-]{6,}|\bAIza[A-Za-z0-9_-]{10,}|(?<=bearer )[^\s\"',;]+",
    re.IGNORECASE,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "insufficient_balance"}
)
_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
# What OpenAI, vLLM and Mistral; OpenAI, LM Studio and llama.cpp; Anthropic; Bedrock; Google; xAI and TGI say.
_CONTEXT_WORDS = re.compile(
    r"maximum context length|(?:exceeds?|(?:greater|longer) than) (?:the |the model's )?(?:available )?"
    r"context (?:window|length|size|limit)|(?:prompt|input) is too long|input token count .*exceeds|"
    r"input tokens exceed|maximum prompt length|`inputs` tokens \+ `max_new_tokens`",
    re.IGNORECASE,
)
_CONTEXT_REMEDY = "the prompt is longer than the model's context: shorten it (or, for local models, ask for ?context=N)"
_REMEDIES = {
    400: "asking again would not help: change the request or its settings",
    403: "this key may not use this model: check the account's rights and region",
    404: "check the model's name, and that base_url is the root of the API (it often ends in /v1)",
    413: "the request is too large for this server: shorten the prompt",
    422: "asking again would not help: change the request or its settings",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a call went, as far as an error message needs it.

    Args:
        label: Model and address, such as ``openai:gpt-5-mini at https://…/v1``.
        key_name: The environment variable that holds the key; ``None`` when no key is sent.
        secrets: Keys in use, never shown.
    """

    label: str
    key_name: str | None = None
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Endpoint({self.label!r})"


@dataclass(frozen=True, slots=True)
class _Said:
    """What the server said: its words, and the codes of its error object."""

    words: str
    codes: frozenset[str]


def failure_of(status: int, body: bytes, headers: Mapping[str, str], endpoint: Endpoint) -> ProviderError:
    """Map a refusal to a typed error.

    Args:
        status: The HTTP status (or the status an error inside a 200 reply carries).
        body: The response body; only its error message is shown, bounded and without keys.
        headers: The response headers, keys in any case.
        endpoint: Where the call went.
    """
    said = _said(body, endpoint.secrets)
    start = f"{endpoint.label} answered {status}: {said.words}"
    wait = retry_after(headers)
    broke = "credit balance is too low" in said.words.lower()
    if status == 402 or (said.codes & _QUOTA_CODES and status in {400, 403, 429}) or (broke and status == 400):
        return QuotaError(f"{start}; the account has no credit left: top it up or use another key", status=status)
    if status == 429:
        return RateLimitError(
            f"{start}; lower requests_per_minute or max_concurrency if this goes on", status=status, retry_after=wait
        )
    # In a stream, and from old servers, it comes as a fault of theirs, which would be tried again and again.
    if (status in {400, 413, 422} or status >= 500) and _too_long(said):
        return ContextLengthError(f"{start}; {_CONTEXT_REMEDY}", status=status)
    if status in {408, 409, 425} or status >= 500:
        return ServerError(f"{start}; the fault is the server's", status=status, retry_after=wait)
    return RejectedError(f"{start}; {_remedy(status, endpoint)}", status=status)


def not_an_api(status: int, body: bytes, endpoint: Endpoint) -> RejectedError:
    """The error for an address that answers with a page instead of the protocol."""
    words = _said(body, endpoint.secrets).words
    return RejectedError(
        f"{endpoint.label}: this is not an OpenAI-compatible endpoint (it answered {words}); "
        "check base_url: it is the root of the API and often ends in /v1",
        status=status,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a server asks to wait: ``retry-after-ms``, or ``Retry-After`` in seconds or as an HTTP date."""
    found = {name.lower(): value for name, value in headers.items() if name.lower().startswith("retry-after")}
    if milliseconds := _number(found.get("retry-after-ms")):
        return milliseconds / 1000
    text = found.get("retry-after")
    if text is None:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def shown(text: str, secrets: tuple[str, ...] = ()) -> str:
    """A text from outside, fit for an error message: one line, bounded, without keys."""
    safe = redact(text[:_WORDS_READ], [key for key in secrets if len(key) >= _SHORTEST_SECRET])
    line = " ".join("".join(c if c.isprintable() else " " for c in _ECHOED_KEY.sub(REDACTED, safe)).split())
    return line if len(line) <= WORDS_SHOWN else line[:WORDS_SHOWN] + "…"


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def _too_long(said: _Said) -> bool:
    return bool(said.codes & _CONTEXT_CODES) or _CONTEXT_WORDS.search(said.words) is not None


def _remedy(status: int, endpoint: Endpoint) -> str:
    if status == 401:
        if endpoint.key_name is None:
            return "no key was sent: name its environment variable as api_key_env"
        return f"check the key in the environment variable {endpoint.key_name}"
    if 300 <= status < 400:
        return "the address has moved: set base_url to the new one"
    return _REMEDIES.get(status, "asking again would not help")


def _said(body: bytes, secrets: tuple[str, ...]) -> _Said:
    text = body.decode("utf-8", "replace").strip()
    if not text:
        return _Said("nothing", frozenset())
    if text.startswith("<"):
        title = _TITLE.search(text)
        return _Said(f"an HTML page ({shown(title.group(1), secrets)!r})" if title else "an HTML page", frozenset())
    try:
        value: Any = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return _Said(shown(text, secrets), frozenset())
    if isinstance(value, list) and value:
        value = cast(list[Any], value)[0]
    if not isinstance(value, dict):
        return _Said(shown(text, secrets), frozenset())
    reply = cast(dict[str, Any], value)
    error: Any = reply.get("error", reply)
    if not isinstance(error, dict):
        return _Said(shown(str(error), secrets), frozenset())
    fields = cast(dict[str, Any], error)
    codes = frozenset(str(fields[name]) for name in ("code", "type", "status") if fields.get(name) is not None)
    words = next((fields[name] for name in ("message", "detail", "error") if fields.get(name)), text)
    return _Said(shown(words if isinstance(words, str) else msgspec.json.encode(words).decode(), secrets), codes)
