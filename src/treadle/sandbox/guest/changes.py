"""What a call changed in its arguments: found on the program's side, made on the tests' side."""

from __future__ import annotations

import _operator

from sources import attributes
from wire import MUTABLE, WireError, kind_of, letter_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wire import Plug


def snapshots(containers: list[Any], base: int) -> list[tuple[int, Any, Any]]:
    """Handle, object and present state of each container of a message that can change.

    Args:
        containers: By the number of their node.
        base: Handle of the first.
    """
    found: list[tuple[int, Any, Any]] = []
    for number, value in enumerate(containers):
        letter = _letter(value)
        if number and letter in MUTABLE:
            found.append((base + number, value, _state(value, letter)))
    return found


def changed(held: list[tuple[int, Any, Any]]) -> list[tuple[int, Any]]:
    """Handle and new state of what is no longer as it was."""
    found: list[tuple[int, Any]] = []
    for handle, value, before in held:
        after = _state(value, _letter(value))
        if not _same(before, after):
            found.append((handle, after))
    return found


def _letter(value: Any) -> str:
    return letter_of(kind_of(value)) or "M"


def _state(value: Any, letter: str) -> Any:
    if letter == "l":
        return value[:]
    if letter == "B":
        return bytes(value)
    if letter == "S":
        return set(value)
    if letter == "Q":
        return list(value)
    return dict(attributes(value)) if letter == "M" else dict(value)


def _same(before: Any, after: Any) -> bool:
    if len(before) != len(after):
        return False
    if isinstance(before, dict):
        return _all_same(before, after) and _all_same(before.values(), after.values())
    return before == after if isinstance(before, bytes) else _all_same(before, after)


def _all_same(before: Any, after: Any) -> bool:
    return all(map(_operator.is_, before, after))


def apply(value: Any, state: Any, plug: Plug) -> None:
    """Give a container of the tests the state that the program's copy has.

    Args:
        value: The container.
        state: From somebody hostile.
        plug: Fills objects of modules that both sides have.

    Raises:
        WireError: The state does not suit the container.
    """
    letter = _letter(value)
    expected: Any = {"l": list, "Q": list, "S": set, "B": bytes}.get(letter, dict)
    if letter not in MUTABLE or type(state) is not expected:
        raise WireError("a change that does not suit what was changed")
    if letter == "M":
        gone = [name for name in getattr(value, "__dict__", ()) if name not in state]
        for name in gone:
            del value.__dict__[name]
        plug.fill(value, state)
    elif letter in "lB":
        value[:] = state
    else:
        value.clear()
        if letter == "Q":
            value.extend(state)
        elif letter == "S":
            value.update(state)
        else:
            for key in state:
                value[key] = state[key]
