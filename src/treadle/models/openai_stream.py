"""Server-sent events of the OpenAI protocol, put together into one reply."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from treadle.errors import ConnectionFailedError, ServerError
from treadle.models.base import Completion
from treadle.models.failures import Endpoint, failure_of, shown
from treadle.models.openai_wire import Choice, Reply, Said, completion_of, reply_of


class _Assembly:
    """What has arrived of a streamed reply."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.said = Said(tool_calls=[])
        self.reply = Reply()
        self.finish_reason: str | None = None

    def add(self, piece: Reply) -> None:
        if piece.usage is not None:
            self.reply.usage = piece.usage
        for choice in (piece.choices or [])[:1]:
            self._add_choice(choice)

    def _add_choice(self, choice: Choice) -> None:
        if choice.finish_reason:
            self.finish_reason = choice.finish_reason
        delta = choice.delta or choice.message or Said()
        if isinstance(delta.content, str):
            self.text.append(delta.content)
        if delta.refusal:
            self.said.refusal = (self.said.refusal or "") + delta.refusal
        calls = self.said.tool_calls
        for piece in delta.tool_calls or ():
            assert calls is not None
            at = piece.index if piece.index is not None else len(calls) if piece.id else len(calls) - 1
            if at >= len(calls):
                calls.append(piece)
            elif calls[at].function is not None and piece.function is not None:
                function = calls[at].function
                assert function is not None
                function.name = (function.name or "") + (piece.function.name or "")
                function.arguments = (function.arguments or "") + (piece.function.arguments or "")

    def completion(self) -> Completion:
        self.said.content = "".join(self.text)
        return completion_of(self.said, self.finish_reason, self.reply.usage)


async def read_stream(pieces: AsyncIterator[bytes], endpoint: Endpoint) -> Completion:
    """Read a stream to its end; usage is that of the last piece that has one, and None where none has.

    Args:
        pieces: The body as it arrives, cut anywhere.
        endpoint: Where it comes from, for messages.

    Raises:
        ConnectionFailedError: The stream ended before the reply did.
        ProviderError: The stream carries an error.
    """
    assembly, lines = _Assembly(), _Lines()
    done = False
    async for piece in pieces:
        done = any(_take(line, assembly, endpoint) for line in lines.add(piece))
        if done:
            break
    done = done or any(_take(line, assembly, endpoint) for line in lines.end())
    if not done and assembly.finish_reason is None:
        raise ConnectionFailedError(f"{endpoint.label}: the stream broke off before the reply was complete")
    return assembly.completion()


def _take(line: bytes, assembly: _Assembly, endpoint: Endpoint) -> bool:
    """Take in one line; whether it is the stream's last."""
    if not line.startswith(b"data:"):
        return False
    event = line[5:].strip()
    if not event or event == b"[DONE]":
        return bool(event)
    try:
        piece = reply_of(event)
    except msgspec.DecodeError as error:
        raise ServerError(f"{endpoint.label}: an event of the stream is malformed: {shown(str(error))}") from None
    if piece.error is not None:
        raise failure_of(status_of(piece.error), event, {}, endpoint)
    assembly.add(piece)
    return False


def status_of(error: object) -> int:
    """The HTTP status that an error object inside a 200 reply stands for; 500 where it says none."""
    code = error.get("code") if isinstance(error, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return code if isinstance(code, int) and 400 <= code < 600 else 500


class _Lines:
    """Cuts what arrives into lines."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def add(self, piece: bytes) -> list[bytes]:
        first, *more = piece.split(b"\n")
        self._rest.append(first)
        if not more:
            return []
        lines = [b"".join(self._rest), *more[:-1]]
        self._rest = [more[-1]]
        return lines

    def end(self) -> list[bytes]:
        return [b"".join(self._rest)]
