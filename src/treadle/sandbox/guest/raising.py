"""Exceptions across the wire: by the names of their classes, never as objects."""

from __future__ import annotations

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STANDARD: frozenset[str] = getattr(
    sys, "stdlib_module_names", frozenset(("builtins", "math", "operator", "re", "json"))
)
_LONGEST_TEXT = 2000
_MOST_CLASSES = 40
_ENDS = ("StopIteration", "StopAsyncIteration")
_TO_RUNNERS = ("unittest", "bdb", "doctest")
"""Modules whose exceptions are words to what runs tests: skip this, stop here."""

_made: dict[tuple[Any, ...], type[BaseException]] = {}


def kinds_of(kind: type[BaseException]) -> list[list[Any]]:
    """An exception's class and those that it derives from: module, name, and the numbers of its bases in this list."""
    found: list[type] = [base for base in kind.__mro__ if issubclass(base, BaseException)][:_MOST_CLASSES]
    numbers = {base: number for number, base in enumerate(found)}
    return [
        [str(base.__module__), base.__qualname__, [numbers[one] for one in base.__bases__ if one in numbers]]
        for base in found
    ]


def text_of(error: BaseException) -> str:
    """What an exception says."""
    try:
        return str(error)[:_LONGEST_TEXT]
    except Exception:
        return ""


def describe(error: BaseException, file: str, source: str) -> list[Any]:
    """An exception as plain values: `kinds_of` its class, where in a file it was raised, and what it says.

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
    return [kinds_of(type(error)), place, text_of(error)]


def class_of(kinds: list[Any], modules: frozenset[str] | None = None) -> type[BaseException]:
    """The class for an exception of the other side: the same one where it is known, or one made of its name and bases.

    Args:
        kinds: What `kinds_of` gave there; from somebody hostile, if ``modules`` are given.
        modules: Names of the modules, besides standard ones, whose classes may be meant. Then an exception that says
            something to interpreters, loops or runners of tests is never that exception.
    """
    if not 0 < len(kinds) <= _MOST_CLASSES:
        raise ValueError("no classes of an exception")
    classes: dict[int, type[BaseException]] = {}
    for number in range(len(kinds))[::-1]:
        module, name, bases = kinds[number]
        if type(module) is not str or type(name) is not str:
            raise ValueError("a class without a name")
        classes[number] = _known(module, name, modules) or _make(module, name, [classes[base] for base in bases])
    return classes[0]


def _known(module: str, name: str, modules: frozenset[str] | None) -> type[BaseException] | None:
    found: Any = getattr(sys.modules.get(module), "__dict__", {}).get(name)
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        return None
    if modules is None:
        return found
    top = module.partition(".")[0]
    if issubclass(found, (StopIteration, StopAsyncIteration)):
        return RuntimeError if module == "builtins" else None  # as in a generator, PEP 479
    if (top not in STANDARD or top in _TO_RUNNERS) and module not in modules:
        return None
    return found if issubclass(found, Exception) or found is BaseException else None


def _make(module: str, name: str, bases: list[type[BaseException]]) -> type[BaseException]:
    kinds = tuple(dict.fromkeys(bases)) or (Exception,)
    short = name.rpartition(".")[2]
    if not short.isidentifier() or len(name) > 100:
        return kinds[0]
    key = (module, name, kinds)
    if key not in _made:
        body = {"__module__": module, "__qualname__": name, "__str__": _said}
        try:
            made: Any = type(short, kinds, body)
        except TypeError:
            made = type(short, kinds[:1], body)
        _made[key] = made
    return _made[key]


def _said(error: BaseException) -> str:
    return str(error.__dict__.get("_text", ""))


def raised(
    kinds: list[Any], args: Any, text: str, attributes: dict[str, Any], modules: frozenset[str] | None = None
) -> BaseException:
    """An exception like that of the other side.

    Args:
        kinds: What `kinds_of` gave there.
        args: Its arguments.
        text: What it said.
        attributes: Its attributes.
        modules: See `class_of`.
    """
    kind: Any = class_of(kinds, modules)
    base: Any = next(base for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base)
    if kind is RuntimeError and kinds[0][1] in _ENDS:
        args = (": ".join(filter(None, (f"the program raised {kinds[0][1]}", text))),)
    try:
        # not its own __init__: that takes what it likes, and need not be what the arguments of the exception are
        error: Any = base.__new__(kind, *args)
        base.__init__(error, *args)
    except Exception:
        error = RuntimeError(f"{kinds[0][1]}: {text}")
    for name, value in attributes.items():
        if not name.startswith("__") and not callable(getattr(kind, name, None)):
            error.__dict__[name] = value
    if kind.__str__ is _said:
        error.__dict__["_text"] = text
    return error


def attributes_of(error: BaseException) -> dict[str, Any]:
    """What an exception has of its own, without what `raised` and the tester noted on it."""
    return {name: value for name, value in error.__dict__.items() if name not in ("_text", "_treadle_place")}
