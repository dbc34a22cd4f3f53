"""What is kept of an output stream: its first and its last bytes, however long it is."""

from __future__ import annotations

import codecs

_LONGEST_CHARACTER = 4


class Kept:
    """Keeps head and tail of a stream of bytes in memory bounded by its limit.

    Args:
        limit: Bytes kept: the first half of them from the start, the rest from the end.
    """

    __slots__ = ("_head", "_head_limit", "_tail", "_tail_limit", "total")

    def __init__(self, limit: int) -> None:
        self._tail_limit = max(limit, 0) // 2
        self._head_limit = max(limit, 0) - self._tail_limit
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(chunk)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if len(chunk) >= self._tail_limit:
            self._tail[:] = chunk[len(chunk) - self._tail_limit :]
        elif chunk:
            self._tail += chunk
            del self._tail[: max(len(self._tail) - self._tail_limit, 0)]

    @property
    def truncated(self) -> bool:
        """Whether bytes were left out."""
        return self.total > self._head_limit + self._tail_limit

    def text(self) -> str:
        """What was kept, as UTF-8; bytes that are none are replaced, a character that the cut splits is left out."""
        if not self.truncated:
            return (self._head + self._tail).decode(errors="replace")
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        head = decoder.decode(bytes(self._head))
        tail = _from_a_character(bytes(self._tail))
        split, _ = decoder.getstate()
        left_out = self.total - len(self._head) - len(tail) + len(split)
        line = f"… {left_out:,} bytes left out …"
        return "\n".join(part for part in (head, line, tail.decode(errors="replace")) if part)


def _from_a_character(tail: bytes) -> bytes:
    for start, byte in enumerate(tail[: _LONGEST_CHARACTER - 1]):
        if byte & 0xC0 != 0x80:
            return tail[start:]
    return tail[_LONGEST_CHARACTER - 1 :]
