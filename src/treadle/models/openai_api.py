"""Any OpenAI-compatible endpoint, through a thin client on aiohttp: the hot path of every run."""

from __future__ import annotations

import asyncio
import contextlib
import urllib.request
from collections.abc import AsyncIterator

import aiohttp
import msgspec
from yarl import URL

from treadle.errors import ConnectionFailedError, RejectedError, ServerError, UnreachableError, UserError
from treadle.models.base import Completion, ModelIdentity, Request
from treadle.models.failures import Endpoint, failure_of, not_an_api, shown
from treadle.models.openai_stream import read_stream, status_of
from treadle.models.openai_wire import body_of, completion_of, reply_of

OFFICIAL = "https://api.openai.com/v1"
MAX_BODY_BYTES = 32 * 2**20


class OpenAIModel:
    """A model behind a chat-completions endpoint.

    The official API gets ``max_completion_tokens``, which all of its models know (reasoning models know nothing
    else); every other server gets ``max_tokens``, unless the model's settings name ``max_completion_tokens``.

    Args:
        name: The model's name at the endpoint.
        base_url: Root of the API.
        api_key: Sent as a bearer token; never shown, never part of the identity.
        key_name: The environment variable the key came from, for error messages.
        max_concurrency: The most connections kept open.
        provider: The provider's name in the identity.

    Raises:
        UserError: ``base_url`` is not an http(s) address, or holds credentials.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str = OFFICIAL,
        api_key: str | None = None,
        key_name: str | None = None,
        max_concurrency: int = 64,
        provider: str = "openai",
    ) -> None:
        self._name = name
        self._root = _root(base_url)
        self._url = URL(f"{self._root}/chat/completions")
        self._identity = ModelIdentity(provider, name, self._root)
        self._endpoint = Endpoint(str(self._identity), key_name, (api_key,) if api_key else ())
        self._limit_name = "max_completion_tokens" if self._root == OFFICIAL else "max_tokens"
        self._max_concurrency = max_concurrency
        self._proxy = _proxy(self._url)
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}

    def __repr__(self) -> str:
        return f"OpenAIModel({str(self._identity)!r})"

    @property
    def identity(self) -> ModelIdentity:
        """Provider, name and root of the API."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """Make one attempt.

        Raises:
            ProviderError: The subclass says whether asking again can help; the text names address and remedy.
        """
        body = body_of(self._name, request, self._limit_name)
        try:
            async with self._session().post(self._url, data=body, proxy=self._proxy, allow_redirects=False) as response:
                return await self._read(response)
        except aiohttp.ClientConnectorCertificateError as error:
            raise RejectedError(f"{self._endpoint.label}: its certificate is not trusted: {self._why(error)}") from None
        except aiohttp.ClientConnectorError as error:
            raise UnreachableError(
                f"{self._endpoint.label} cannot be reached ({self._why(error)}): is the server up, is base_url right?"
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionFailedError(f"{self._endpoint.label}: the connection broke ({self._why(error)})") from None

    async def aclose(self) -> None:
        """Close every connection."""
        sessions, self._sessions = self._sessions, {}
        for loop, session in sessions.items():
            # Transports of a loop that is closed already cannot be closed again.
            with contextlib.suppress(RuntimeError):
                await session.close()
            if loop.is_closed():
                session.detach()

    def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            headers = {"Content-Type": "application/json", "User-Agent": "treadle"}
            if self._endpoint.secrets:
                headers["Authorization"] = f"Bearer {self._endpoint.secrets[0]}"
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._max_concurrency, ttl_dns_cache=300),
                headers=headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            )
        return session

    async def _read(self, response: aiohttp.ClientResponse) -> Completion:
        endpoint = self._endpoint
        kind = response.headers.get("Content-Type", "")
        if response.status == 200 and kind.startswith("text/event-stream"):
            return await read_stream(self._pieces(response), endpoint)
        body = b"".join([piece async for piece in self._pieces(response)])
        if response.status != 200:
            raise failure_of(response.status, body, response.headers, endpoint)
        if not body.strip():
            raise ServerError(f"{endpoint.label} answered 200 with nothing in it", status=200)
        if not body.lstrip().startswith(b"{"):
            raise not_an_api(200, body, endpoint)
        try:
            reply = reply_of(body)
        except msgspec.DecodeError as error:
            raise ServerError(f"{endpoint.label} answered malformed JSON: {shown(str(error))}", status=200) from None
        if reply.error is not None and not reply.choices:
            raise failure_of(status_of(reply.error), body, response.headers, endpoint)
        if not reply.choices or reply.choices[0].message is None:
            said = shown(body.decode("utf-8", "replace"), endpoint.secrets)
            raise ServerError(f"{endpoint.label} answered without choices: {said}", status=200)
        return completion_of(reply.choices[0].message, reply.choices[0].finish_reason, reply.usage)

    async def _pieces(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        size = 0
        async for piece in response.content.iter_any():
            size += len(piece)
            if size > MAX_BODY_BYTES:
                raise ServerError(f"{self._endpoint.label} sent more than {MAX_BODY_BYTES >> 20} MiB; it was cut off")
            yield piece

    def _why(self, error: Exception) -> str:
        return shown(str(error) or type(error).__name__, self._endpoint.secrets)


def _root(base_url: str) -> str:
    try:
        url = URL(base_url.strip())
    except ValueError as error:
        raise UserError(f"base_url {shown(base_url)!r} is not an address: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise UserError(f"base_url {shown(base_url)!r} must begin with http:// or https:// and name a host")
    if url.user or url.password or url.query_string or url.fragment:
        raise UserError(f"base_url of {url.host} must hold neither credentials nor a query: put a key in api_key_env")
    return str(url).rstrip("/").removesuffix("/chat/completions")


def _proxy(url: URL) -> str | None:
    host = url.host or ""
    if urllib.request.proxy_bypass(f"{host}:{url.port}"):
        return None
    return urllib.request.getproxies().get(url.scheme)
