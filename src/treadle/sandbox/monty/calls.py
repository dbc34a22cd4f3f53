"""What a program in Monty wants of the host while it runs: calls of its functions, and time to sleep."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from treadle.errors import TreadleError
from treadle.sandbox.monty.session import OutOfTime, Session

if TYPE_CHECKING:
    from pydantic_monty import (
        ExternalResult,
        ExternalSettledResult,
        FunctionSnapshot,
        FutureSnapshot,
        NameLookupSnapshot,
        SyncSnapshot,
    )

Call = Callable[[tuple[object, ...], dict[str, object]], Awaitable[object]]
"""Takes positional and keyword arguments as the program gave them."""

_PASSED_ON = (KeyError, IndexError, ValueError, TypeError, ZeroDivisionError, OSError, RuntimeError)


@dataclass(frozen=True, slots=True)
class _Ended:
    """What a call raised that the program must not see."""

    error: BaseException


class HostCalls:
    """Answers a program until it is done; its calls run at the same time, as tasks of the host.

    Args:
        session: The worker that runs it.
        functions: What it may call, by name.
    """

    def __init__(self, session: Session, functions: Mapping[str, Call]) -> None:
        self._session = session
        self._functions = functions
        self._calls: dict[int, asyncio.Task[ExternalSettledResult | _Ended]] = {}
        self._sleeps: set[int] = set()

    async def answer(self, snapshot: SyncSnapshot) -> object:
        """Answer until the program is done, and give what its last expression came to.

        Raises:
            MontyError: The program failed.
            OutOfTime: Its own time is used up.
            TreadleError: What a call raised, the very same object; so is a cancellation.
        """
        from pydantic_monty import FunctionSnapshot, FutureSnapshot, MontyComplete

        try:
            while not isinstance(snapshot, MontyComplete):
                if isinstance(snapshot, FunctionSnapshot):
                    snapshot = await self._called(snapshot)
                elif isinstance(snapshot, FutureSnapshot):
                    snapshot = await self._waiting(snapshot)
                else:
                    snapshot = await self._named(snapshot)
            for call in self._calls.values():
                if call.done():
                    _settled(call)
            return snapshot.output
        finally:
            await self._cancel()

    async def _called(self, snapshot: FunctionSnapshot) -> SyncSnapshot:
        name = snapshot.function_name
        answer: ExternalResult
        if not snapshot.is_os_function:
            function = self._functions.get(name)
            answer = self._begun(snapshot, function) if function is not None else _no_name(name)
        elif name == "time.sleep":
            await self._sleep(float(snapshot.args[0]))
            answer = {"return_value": None}
        elif name == "asyncio.sleep":
            self._sleeps.add(snapshot.call_id)
            answer = self._begun(snapshot, _slept)
        else:
            return await self._session.turn(snapshot.resume_not_handled)
        return await self._session.turn(lambda: snapshot.resume(answer))

    def _begun(self, snapshot: FunctionSnapshot, call: Call) -> ExternalResult:
        self._calls[snapshot.call_id] = asyncio.create_task(_run(call, snapshot.args, snapshot.kwargs))
        return {"future": ...}

    async def _waiting(self, snapshot: FutureSnapshot) -> SyncSnapshot:
        calls = {number: self._calls[number] for number in sorted(snapshot.pending_call_ids)}
        asleep = self._sleeps.issuperset(calls)
        loop, session = asyncio.get_running_loop(), self._session
        started = loop.time()
        left = max(session.seconds - session.used, 0.0) if asleep else None
        done, _ = await asyncio.wait(calls.values(), timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if asleep:
            session.used += loop.time() - started
        if not done:
            raise OutOfTime
        answers = {number: _settled(self._calls.pop(number)) for number, call in calls.items() if call in done}
        return await session.turn(lambda: snapshot.resume(answers))

    async def _named(self, snapshot: NameLookupSnapshot) -> SyncSnapshot:
        name = snapshot.variable_name
        if snapshot.object_id is None and name in self._functions:
            return await self._session.turn(lambda: snapshot.resume(value=_stand_in(name)))
        return await self._session.turn(snapshot.resume)

    async def _sleep(self, seconds: float) -> None:
        loop, session = asyncio.get_running_loop(), self._session
        started, left = loop.time(), max(session.seconds - session.used, 0.0)
        await asyncio.sleep(min(seconds, left))
        session.used += loop.time() - started
        if seconds > left:
            raise OutOfTime

    async def _cancel(self) -> None:
        calls = list(self._calls.values())
        for call in calls:
            call.cancel()
        if calls:
            await asyncio.wait(calls)


async def _run(
    call: Call, positional: tuple[object, ...], keywords: dict[str, object]
) -> ExternalSettledResult | _Ended:
    try:
        return {"return_value": await call(positional, keywords)}
    except (TreadleError, asyncio.CancelledError) as error:
        return _Ended(error)
    except Exception as error:
        return _raised(error)


def _settled(call: asyncio.Task[ExternalSettledResult | _Ended]) -> ExternalSettledResult:
    result = call.result()
    if isinstance(result, _Ended):
        raise result.error
    return result


def _raised(error: Exception) -> ExternalSettledResult:
    """The error as Monty can hold it: a built-in one, with one text."""
    text = str(error.args[0]) if isinstance(error, KeyError) and len(error.args) == 1 else str(error)
    for kind in _PASSED_ON:
        if type(error) is kind:
            return cast("ExternalSettledResult", {"exc_type": kind.__name__, "message": text})
    nearest = next((kind for kind in _PASSED_ON if isinstance(error, kind)), RuntimeError)
    return cast("ExternalSettledResult", {"exc_type": nearest.__name__, "message": f"{type(error).__name__}: {text}"})


def _no_name(name: str) -> ExternalSettledResult:
    return {"exc_type": "NameError", "message": f"name '{name}' is not defined"}


def _stand_in(name: str) -> Callable[..., object]:
    """Monty calls a function of the host by the name that it carries."""

    def stand_in(*_positional: object, **_keywords: object) -> object:
        raise NotImplementedError(name)

    stand_in.__name__ = name
    return stand_in


async def _slept(positional: tuple[object, ...], _keywords: dict[str, object]) -> object:
    return await asyncio.sleep(float(cast("Any", positional[0])))
