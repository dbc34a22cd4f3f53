"""The decorator that makes a workflow of a user's own function, and what such a function must look like."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

from treadle.errors import UserError

F = TypeVar("F", bound=Callable[..., Awaitable[Any]])
_NAME = "__treadle_workflow__"


@overload
def workflow(function: F, /) -> F: ...


@overload
def workflow(*, name: str) -> Callable[[F], F]: ...


def workflow(function: F | None = None, /, *, name: str = "") -> F | Callable[[F], F]:
    """Mark an async function of a problem and a run as a workflow; it stays the function that it is.

    Args:
        function: The function, when used as ``@workflow`` without brackets. Parameters after the first two are
            settings: ``module:function?setting=value``.
        name: The name in reports; ``module:function`` when not given.

    Raises:
        UserError: The function is not async, or does not take a problem and a run.
    """

    def mark(function: F) -> F:
        check_function(function, getattr(function, "__qualname__", repr(function)))
        setattr(function, _NAME, name)
        return function

    return mark if function is None else mark(function)


def name_of(function: Callable[..., Any]) -> str:
    """The name of a user's workflow in reports: the one it was given, else ``module:function``."""
    given: str = getattr(function, _NAME, "")
    own = getattr(function, "__qualname__", type(function).__qualname__)
    return given or f"{getattr(function, '__module__', '')}:{own}".lstrip(":")


def check_function(function: object, name: str) -> inspect.Signature:
    """Make sure that something is an async function of a problem and a run.

    Args:
        function: What a user gave.
        name: What to call it in the message.

    Returns:
        Its signature.

    Raises:
        UserError: It is not.
    """
    call = function if inspect.isroutine(function) else getattr(function, "__call__", None)  # noqa: B004
    if isinstance(function, type) or not callable(function):
        raise UserError(f"{name} must be an async function of a problem and a run, not {_what(function)}")
    if not (inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)):
        raise UserError(f"{name} must be async: write `async def` before its name")
    signature = inspect.signature(function)
    places = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(places) < 2 or any(place.default is place.empty for place in places[2:]):
        raise UserError(f"{name} must take a problem and a run, and settings with defaults after them: {signature}")
    return signature


def _what(value: object) -> str:
    return f"a {type(value).__name__}" if not isinstance(value, type) else f"the class {value.__name__}"
