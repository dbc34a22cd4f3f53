"""What goes to the screen: documents and tables on stdout, messages on stderr."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PIPED_WIDTH = 140
_UNKNOWN_WIDTH = 80
_NARROWEST = 40
_PADDING = re.compile(r" +(?=\n)")
_STDOUT = 1
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


_reserved: list[TextIO] = []


@contextmanager
def reserved_stdout() -> Generator[None]:
    """Keep stdout for documents and tables; whatever else is printed meanwhile, also by child processes, is a message.

    What user code prints would otherwise stand in the middle of a document.
    """
    own = sys.stdout
    own.flush()
    moved = _moved(own)
    _reserved.append(moved or own)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _reserved.pop()
        if moved is not None:
            with moved:
                os.dup2(moved.fileno(), _STDOUT)


def _moved(own: TextIO) -> TextIO | None:
    """The process's stdout under another number, its own number now that of stderr; ``None`` where it has none."""
    try:
        numbers = own.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):
        return None
    if numbers[0] != _STDOUT:
        return None
    moved = os.fdopen(os.dup(_STDOUT), "w", encoding=own.encoding, errors=own.errors)
    os.dup2(numbers[1], _STDOUT)
    return moved


def stdout() -> TextIO:
    """Where documents and tables go."""
    return _reserved[-1] if _reserved else sys.stdout


def print_json(document: Any) -> None:
    """Write one JSON document on stdout; indented where a person reads it."""
    import msgspec

    from treadle.store.text import encode

    text = encode(document)
    if stdout().isatty():
        text = msgspec.json.format(text, indent=2)
    write(text + b"\n")


def print_text(*parts: RenderableType) -> None:
    """Write tables and lines on stdout."""
    out = console()
    with out.capture() as captured:
        for part in parts:
            out.print(part, crop=False)
    write(_PADDING.sub("", captured.get()))


def console() -> Console:
    """A console for stdout: as wide as the terminal, wider where there is none; text is never read as markup."""
    from rich.console import Console

    return Console(file=stdout(), width=screen_width(), markup=False, highlight=False, emoji=False)


def screen_width() -> int:
    """Columns of stdout: the terminal's, ``$COLUMNS``, or enough for whole lines where it is neither."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return max(_NARROWEST, int(columns))
    if not stdout().isatty():
        return _PIPED_WIDTH
    try:
        return max(_NARROWEST, os.get_terminal_size(stdout().fileno()).columns or _UNKNOWN_WIDTH)
    except OSError:
        return _UNKNOWN_WIDTH


def write(text: str | bytes) -> None:
    """Write text, or UTF-8 whatever the terminal's encoding, on stdout; a reader that went away is no error."""
    out = stdout()
    try:
        if isinstance(text, bytes):
            out.buffer.write(text)
        else:
            out.write(text)
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def say(*messages: str) -> None:
    """Write messages on stderr, a line each."""
    try:
        sys.stderr.write("".join(f"treadle: {clean(message)}\n" for message in messages))
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def clean(text: str) -> str:
    """Text from outside without what would steer a terminal; each such character becomes a visible mark."""
    return _CONTROL.sub(_mark, text.replace("\r\n", "\n"))


def _mark(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"
