"""Messages to the program and from it."""

from __future__ import annotations

import os

from candidate import HEAD
from sources import Shared
from wire import MOST_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_CHUNK = 1 << 20


class Ended(BaseException):
    """The program's process is gone, or talks nonsense.

    Args:
        verdict: What that makes of a test.
        why: The reason.
    """

    def __init__(self, verdict: str, why: str) -> None:
        super().__init__(why)
        self.verdict = verdict


class Channel(Shared):
    """A stream socket whose other end is the program's.

    Args:
        modules: Names of the modules that both sides have.
    """

    def __init__(self, modules: frozenset[str]) -> None:
        super().__init__(modules)
        self.channel = -1
        self.fault: Ended | None = None

    def lose(self) -> NoReturn:
        """Raise how the process ended."""
        raise Ended("crashed", "the program's process is gone")

    def send(self, kind: bytes, data: bytes) -> None:
        """Send a message."""
        rest = memoryview(HEAD.pack(kind, len(data)) + data)
        try:
            while rest:
                rest = rest[os.write(self.channel, rest) :]
        except OSError:
            self.lose()

    def receive(self) -> tuple[bytes, bytes]:
        """Wait for a message."""
        kind, size = HEAD.unpack(self._read(HEAD.size))
        if size > MOST_BYTES:
            self.fault = Ended("error", "the program gave a value that is too large to hand over")
            raise self.fault
        return kind, self._read(size)

    def _read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            try:
                part = os.read(self.channel, min(size, _CHUNK))
            except OSError:
                part = b""
            if not part:
                self.lose()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
