"""The values that cross between code in Monty and its host: those of JSON, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

_DEEPEST = 100


class NotPlainError(TypeError):
    """A value has something in it that does not pass."""


def plain(value: object, what: str) -> object:
    """A copy of a value with only dictionaries, lists, texts, numbers, booleans and None in it.

    Args:
        value: The value; tuples become lists, lone surrogates question marks.
        what: What it is, for the error, such as ``"the argument prompt"``.

    Raises:
        NotPlainError: It has anything else in it, a number that is not finite, or more than 100 levels.
    """
    return _plain(value, what, 0)


def _plain(value: object, what: str, depth: int) -> object:
    if depth > _DEEPEST:
        raise NotPlainError(f"{what} is nested more than {_DEEPEST} levels deep")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="replace").decode()
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotPlainError(f"{what} holds {value}: only finite numbers pass between code and its host")
        return value
    if isinstance(value, list | tuple):
        items = cast("list[object] | tuple[object, ...]", value)
        return [_plain(item, what, depth + 1) for item in items]
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value)
        return {_key(key, what): _plain(item, what, depth + 1) for key, item in pairs.items()}
    raise _refused(value, what)


def _key(key: object, what: str) -> str:
    if not isinstance(key, str):
        raise NotPlainError(f"{what} holds a dictionary with a key that is no text: {_kind(key)}")
    return key if key.isascii() else key.encode(errors="replace").decode()


def _refused(value: object, what: str) -> NotPlainError:
    return NotPlainError(
        f"{what} holds a value of type {_kind(value)}: only dictionaries, lists, texts, numbers, booleans and None "
        "pass between code and its host"
    )


def _kind(value: object) -> str:
    return type(value).__name__
