"""Checking code for Monty without running it: its types against stubs, its syntax, and what Monty does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from treadle.sandbox.base import MIB, Limits
from treadle.sandbox.monty.calls import HostCalls
from treadle.sandbox.monty.faults import beyond_monty, ending, remedy
from treadle.sandbox.monty.pool import MontyPool
from treadle.sandbox.monty.session import OutOfTime, Session, WorkerLost

if TYPE_CHECKING:
    from pydantic_monty import MontyError

_LIMITS = Limits(seconds=10.0, memory=128 * MIB)
_LONGEST = MIB
_REFUSED = "None.refused\n"
"""An error in the types, so that code behind it is checked and never run; first, so that nothing can hide it."""

_STOPPED = "raise SystemExit\n"
_SEVERE = ("major", "critical", "blocker")
_IGNORED = re.compile(r"(#\s*(?:type|ty)\s*):(\s*ignore)")
_FUTURE = re.compile(r"^from __future__ import", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TypeFault:
    """Something that is wrong with code before it has run.

    Attributes:
        line: Line of the source, counted from 1; nothing where the fault is in how the code is called.
        message: What is wrong, with the remedy for what Monty does not have.
        kind: Whether types, syntax or what Monty knows stands against it.
    """

    line: int | None
    message: str
    kind: Literal["type", "syntax", "unsupported"] = "type"


class _Position(msgspec.Struct):
    line: int


class _Positions(msgspec.Struct):
    begin: _Position


class _Place(msgspec.Struct):
    positions: _Positions


class _Diagnostic(msgspec.Struct):
    check_name: str
    description: str
    severity: str
    location: _Place


async def check_code(pool: MontyPool, source: str, stubs: str, *, call: str = "") -> tuple[TypeFault, ...]:
    """Check code without running any of it.

    Comments that tell a type checker to look away are not heeded.

    Args:
        pool: Where a worker comes from.
        source: The code.
        stubs: Declarations of what it finds bound: functions of the host, types.
        call: What is run behind the source, such as ``await solve(problem=given)``.

    Returns:
        Every fault, in the order of its lines; none where the code can be run.

    Raises:
        SandboxError: Monty is not there, or the pool is closed.
    """
    if len(source) > _LONGEST:
        return (TypeFault(None, f"the code is longer than {_LONGEST:,} characters", "syntax"),)
    key = hash((source, stubs, call))
    if key in pool.sound:
        return ()
    lines = source.count("\n") + 1
    async with pool.checkout(_LIMITS, stubs=stubs) as session:
        try:
            found = tuple(_placed(await _types(session, source, call), lines))
            faults = found or await _syntax(session, source, lines)
        except OutOfTime:
            return (TypeFault(None, f"checking it took more than {_LIMITS.seconds:g} seconds", "type"),)
        except WorkerLost:
            return (TypeFault(None, "the pool was closed while the code was checked", "type"),)
    if not faults:
        pool.sound.add(key)
    return faults


async def _types(session: Session, source: str, call: str) -> Sequence[_Diagnostic]:
    from pydantic_monty import MontyError, MontyTypingError

    checked = _FUTURE.sub("#", _IGNORED.sub(r"\1-\2", source))
    try:
        snapshot = await session.start(f"{_REFUSED}{checked}\n{call}\n", _unheard, check=True)
        await HostCalls(session, {}).answer(snapshot)
    except MontyTypingError as error:
        found = msgspec.json.decode(error.display(), type=list[_Diagnostic])
        return [one for one in found if one.severity in _SEVERE and one.location.positions.begin.line > 1]
    except MontyError as error:
        return [_other(error, source.count("\n") + 2)]
    return []


async def _syntax(session: Session, source: str, lines: int) -> tuple[TypeFault, ...]:
    """What Monty itself says to the source; it is read as a whole, and ended before its first line."""
    from pydantic_monty import MontyError

    try:
        snapshot = await session.start(f"{_STOPPED}{source}", _unheard)
        await HostCalls(session, {}).answer(snapshot)
    except MontyError as error:
        end = ending(error, lines=lines + 1, memory=_LIMITS.memory, seconds=_LIMITS.seconds)
        if end.kind in ("syntax", "unsupported"):
            line = end.line - 1 if end.line is not None else None
            return (TypeFault(line, end.message, end.kind),)
    return ()


def _placed(found: Iterable[_Diagnostic], lines: int) -> Iterable[TypeFault]:
    for one in found:
        line = one.location.positions.begin.line - 1
        message = one.description.removeprefix(f"{one.check_name}: ")
        kind: Literal["type", "syntax", "unsupported"] = "type"
        if one.check_name == "invalid-syntax":
            kind = "syntax"
        elif one.check_name == "unresolved-import" or beyond_monty(_error_of(one.check_name), message):
            kind = "unsupported"
            message = f"{message}; Monty has only part of Python: {remedy(message)}"
        yield TypeFault(line if 0 < line <= lines else None, message, kind)


def _error_of(check_name: str) -> str:
    return {"unresolved-attribute": "AttributeError", "unresolved-reference": "NameError"}.get(check_name, "")


def _other(error: MontyError, lines: int) -> _Diagnostic:
    """Code that Monty cannot even read for its checker: nested too deeply, too much for its memory."""
    end = ending(error, lines=lines, memory=_LIMITS.memory, seconds=_LIMITS.seconds)
    place = _Place(_Positions(_Position(end.line or 0)))
    return _Diagnostic("invalid-syntax", end.message, "major", place)


def _unheard(_stream: str, _text: str) -> None:
    pass
