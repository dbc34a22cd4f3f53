"""What a program prints while the tests call it, kept for them."""

from __future__ import annotations

import io
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_SPOKEN = 1 << 18
"""Bytes that are kept of one call; what is said beyond them is lost."""


class Spoken(io.RawIOBase):
    """The end of a text stream: keeps what is written, and gives it away."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._left = MOST_SPOKEN
        self._text: Any = io.TextIOWrapper(io.BufferedWriter(self), "utf-8", "backslashreplace", newline="\n")

    def start(self) -> None:
        """Become ``sys.stdout``."""
        sys.stdout = sys.__stdout__ = self._text  # pyright: ignore[reportAttributeAccessIssue]

    def writable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """That of the standard output, which leads nowhere."""
        return 1

    def write(self, data: Any) -> int:
        """Keep the beginning."""
        part = bytes(data)
        self._parts.append(part[: self._left])
        self._left -= len(self._parts[-1])
        return len(part)

    def take(self) -> str:
        """What was said since the last time."""
        try:
            self._text.flush()
        except ValueError:
            return ""
        text = b"".join(self._parts).decode("utf-8", "replace")
        self._parts.clear()
        self._left = MOST_SPOKEN
        return text
