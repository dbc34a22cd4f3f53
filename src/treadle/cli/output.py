"""What goes to the screen: documents and tables on stdout, messages on stderr."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PIPED_WIDTH = 140
_NARROWEST = 40
_PADDING = re.compile(r" +(?=\n)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def print_json(document: Any) -> None:
    """Write one JSON document on stdout; indented where a person reads it."""
    import msgspec

    from treadle.store.text import encode

    text = encode(document)
    if sys.stdout.isatty():
        text = msgspec.json.format(text, indent=2)
    write(text + b"\n")


def print_text(*parts: RenderableType) -> None:
    """Write tables and lines on stdout."""
    out = console()
    with out.capture() as captured:
        for part in parts:
            out.print(part)
    write(_PADDING.sub("", captured.get()))


def console() -> Console:
    """A console for stdout: as wide as the terminal, wider where there is none; text is never read as markup."""
    from rich.console import Console

    return Console(file=sys.stdout, width=screen_width(), markup=False, highlight=False, emoji=False)


def screen_width() -> int:
    """Columns of stdout: the terminal's, ``$COLUMNS``, or enough for whole lines where it is neither."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(_NARROWEST, shutil.get_terminal_size().columns)
    return _PIPED_WIDTH


def write(text: str | bytes) -> None:
    """Write text, or UTF-8 whatever the terminal's encoding, on stdout; a reader that went away is no error."""
    try:
        if isinstance(text, bytes):
            sys.stdout.buffer.write(text)
        else:
            sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(message: str) -> None:
    """Write a message on stderr."""
    try:
        sys.stderr.write(f"treadle: {clean(message)}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def clean(text: str) -> str:
    """Text from outside without what would steer a terminal; each such character becomes a visible mark."""
    return _CONTROL.sub(_mark, text.replace("\r\n", "\n"))


def _mark(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"
