"""How work in Monty ended, read from its errors: what was wrong, where, and what to do about it."""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pydantic_monty import MontyError

Kind = Literal["type", "syntax", "unsupported", "raised", "timed_out", "out_of_memory", "crashed"]

_REMEDIES = (
    (r"yield|generator", "build a list and return it instead of yielding"),
    (r"inheritance", "use classes without a base, functions, or dictionaries"),
    (r"method decorators", "use plain methods"),
    (r"async (for|context|compr)", "use plain loops and `await`"),
    (r"'del' statement", "leave the name alone, or use `.pop()`"),
    (r"[Ww]ildcard import", "import the names that you need"),
    (r"exception groups", "use plain `except`"),
    (r"one string argument", "raise exceptions with one text"),
    (r"'(input|stdin)'", "its input cannot be read: write what it needs into the program"),
    (r"'(exit|quit)'", "let the program come to its end, or raise SystemExit"),
    (r"create_task|TaskGroup|wait_for", "await several calls at once with asyncio.gather"),
    (r"No module named|Cannot resolve imported", "write what you need of it yourself"),
)
_NO_SYNTAX = re.compile(r"does not yet support|Wildcard imports|^Internal error in monty")
_NO_ATTRIBUTE = re.compile(r"'?(?P<type>\w+)'? object has no attribute '(?P<name>\w+)'")
_NO_MEMBER = re.compile(r"^[Mm]odule .* has no (attribute|member) ")
_NO_NAME = re.compile(r"[Nn]ame ['`](?P<name>\w+)['`] (is not|used when not) defined")
_SIGNAL = re.compile(r"\(signal: (\d+)")
_NO_MEMORY = ("memory limit exceeded: ", "the worker exceeded its memory limit")
_NO_SOURCE = "<string>"


@dataclass(frozen=True, slots=True)
class Ending:
    """How work ended that did not come to its end.

    Attributes:
        kind: What was the matter.
        message: The same in words, with the remedy for what Monty does not have.
        line: Line of the source, counted from 1, where it is known.
        shown: The whole error as an interpreter shows it.
        signal: The signal that killed the worker, where one did.
        quiet: Whether the program ended itself with SystemExit and no text.
    """

    kind: Kind
    message: str
    line: int | None = None
    shown: str = ""
    signal: int | None = None
    quiet: bool = False


def remedy(message: str) -> str:
    """What to write instead of something that Monty does not have."""
    return next((words for pattern, words in _REMEDIES if re.search(pattern, message)), "write it in another way")


def beyond_monty(error: str, message: str) -> bool:
    """Whether an error says that Monty has not got something which Python has.

    Args:
        error: The error's class.
        message: Its text.
    """
    if error in ("ModuleNotFoundError", "ImportError"):
        return True
    if error == "NotImplementedError" or message.startswith("Internal error in monty"):
        return _NO_SYNTAX.search(message) is not None
    if error == "AttributeError":
        found = _NO_ATTRIBUTE.search(message)
        kind = getattr(builtins, found["type"], None) if found else None
        return _NO_MEMBER.search(message) is not None or (found is not None and hasattr(kind, found["name"]))
    if error == "NameError":
        found = _NO_NAME.search(message)
        return found is not None and hasattr(builtins, found["name"])
    return error == "RuntimeError" and "is not supported in this environment" in message


def ending(error: MontyError, *, lines: int, memory: int, seconds: float) -> Ending:
    """Read how work ended.

    Args:
        error: What Monty raised.
        lines: How many lines its source has: errors are looked for in those.
        memory: Bytes it could have.
        seconds: Seconds it could have.
    """
    from pydantic_monty import MontyCrashedError, MontyRuntimeError, MontySyntaxError

    if isinstance(error, MontyCrashedError):
        if error.timed_out:
            return Ending("timed_out", time_is_up(seconds))
        found = _SIGNAL.search(str(error))
        return Ending("crashed", f"its worker died: {error}", signal=int(found[1]) if found else None)
    cause = error.exception()
    name, text = type(cause).__name__, str(cause)
    if not isinstance(error, MontyRuntimeError | MontySyntaxError):
        return Ending("raised", f"{name}: {text}", shown=str(error))
    inside = [frame.line for frame in error.traceback() if frame.filename != _NO_SOURCE and frame.line <= lines]
    line, shown = inside[-1] if inside else None, error.display()
    if isinstance(error, MontySyntaxError):
        return Ending("syntax", f"{name}: {text}", line, shown)
    if isinstance(cause, TimeoutError) and text.startswith("feed time limit exceeded"):
        return Ending("timed_out", time_is_up(seconds), line, shown)
    if isinstance(cause, MemoryError) and text.startswith(_NO_MEMORY):
        return Ending("out_of_memory", f"it wanted more than its {memory:,} bytes", line, shown)
    if beyond_monty(name, text):
        return Ending("unsupported", f"{name}: {text}; Monty has only part of Python: {remedy(text)}", line, shown)
    quiet = isinstance(cause, SystemExit) and not text
    return Ending("raised", f"{name}: {text}" if text else name, line, shown, quiet=quiet)


def time_is_up(seconds: float) -> str:
    """The words for a time limit."""
    return f"its {seconds:g} seconds of running are used up"
