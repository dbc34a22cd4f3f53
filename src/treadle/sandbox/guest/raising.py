"""Exceptions across the wire: by names of builtin types, never as objects."""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST_TEXT = 2000
_made: dict[tuple[str, str], type[BaseException]] = {}


def bases_of(kind: type[BaseException]) -> list[str]:
    """The name of an exception's class and of the first builtin one it derives from."""
    for base in kind.__mro__:
        if getattr(builtins, base.__name__, None) is base:
            return [kind.__name__, base.__name__]
    return [kind.__name__, "Exception"]


def text_of(error: BaseException) -> str:
    """What an exception says."""
    try:
        return str(error)[:_LONGEST_TEXT]
    except Exception:
        return ""


def describe(error: BaseException, file: str, source: str) -> list[Any]:
    """An exception as plain values: `bases_of` its class, where in a file it was raised, and what it says.

    Args:
        error: The exception.
        file: The name that the file's code was compiled with.
        source: Its text.
    """
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == file:
            lines = source.splitlines()
            line = lines[trace.tb_lineno - 1].strip() if trace.tb_lineno <= len(lines) else ""
            inside = "" if code.co_name == "<module>" else f" of {code.co_name}"
            place = f"line {trace.tb_lineno}{inside}: {line[:120]}"
        trace = trace.tb_next
    return [bases_of(type(error)), place, text_of(error)]


def class_of(name: str, base: str) -> type[BaseException]:
    """The class for an exception of the other side: the builtin one, or one made of its name.

    Args:
        name: Its name there.
        base: Its first builtin base.
    """
    kind: Any = getattr(builtins, base, None)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        kind = Exception
    if name == base or not name.isidentifier() or len(name) > 100:
        return kind
    key = (name, base)
    if key not in _made:
        made: Any = type(name, (kind,), {"__module__": "builtins", "__str__": _said})
        _made[key] = made
    return _made[key]


def _said(error: BaseException) -> str:
    return str(error.__dict__.get("_text", ""))


def raised(names: list[str], args: Any, text: str = "", attributes: dict[str, Any] | None = None) -> BaseException:
    """An exception like that of the other side.

    Args:
        names: What `bases_of` gave there.
        args: Its arguments.
        text: What it said.
        attributes: Its attributes.
    """
    kind = class_of(*names)
    try:
        error = kind(*args)
    except Exception:
        error = RuntimeError(f"{names[0]}: {text}")
    own = kind.__name__ != names[1]
    error.__dict__.update({**(attributes or {}), **({"_text": text} if own else {})})
    return error
