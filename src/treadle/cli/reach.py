"""Whether an endpoint answers, asked in a way that costs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treadle.config import ModelSettings

_TIMEOUT_S = 5.0
_ON_THIS_MACHINE = {
    "simulated": "says nothing about real models",
    "scripted": "the script loads",
    "local": "its file is here; the server starts on demand",
}


@dataclass(frozen=True, slots=True)
class _Entry:
    id: str


@dataclass(frozen=True, slots=True)
class _Listing:
    data: list[_Entry]


async def reach(model: ModelSettings) -> tuple[bool, str]:
    """Whether a model's endpoint answers ``GET /models``, and in words what came of it.

    Args:
        model: One alias of treadle.toml, whose key is set where it needs one.
    """
    from treadle.models.registry import OPENAI_COMPATIBLE, api_key

    provider, _, name = model.model.partition(":")
    if provider in _ON_THIS_MACHINE:
        return True, _ON_THIS_MACHINE[provider]
    if provider not in OPENAI_COMPATIBLE:
        return True, "not contacted"
    root = (model.base_url or OPENAI_COMPATIBLE[provider].base_url).rstrip("/")
    _, key = api_key(model.model, model.base_url, model.api_key_env)
    return await _ask(root, key, name)


async def _ask(root: str, key: str | None, name: str) -> tuple[bool, str]:
    import aiohttp

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers, trust_env=True) as session,
            session.get(f"{root}/models", allow_redirects=False) as response,
        ):
            return _verdict(root, response.status, await response.read(), name)
    except TimeoutError:
        return False, f"{root} does not answer within {_TIMEOUT_S:g} s"
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return False, f"{root} cannot be reached ({type(error).__name__}); is the server up, is base_url right?"


def _verdict(root: str, status: int, body: bytes, name: str) -> tuple[bool, str]:
    import msgspec

    if status in (401, 403):
        return False, f"{root} refuses the key (HTTP {status})"
    if status == 404:
        return True, f"{root} answers, without a list of models"
    if status != 200:
        return False, f"{root} answers HTTP {status}; does base_url end in /v1?"
    try:
        names = [entry.id for entry in msgspec.json.decode(body, type=_Listing).data]
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False, f"{root} answers with a page instead of an API; does base_url end in /v1?"
    if names and name not in names:
        listed = ", ".join(names[:5])
        return False, f"{root} answers and does not list {name!r}; it has {listed}{', …' if len(names) > 5 else ''}"
    return True, f"{root} answers"
