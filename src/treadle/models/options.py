"""Options behind a model's name, ``name?option=value&option=value``, read into a dataclass of defaults."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, TypeVar
from urllib.parse import unquote

from treadle.errors import UnknownNameError, UserError

T = TypeVar("T")


def read_options(spec: str, kind: type[T]) -> T:
    """Read the options of a name.

    Args:
        spec: The whole name, options after the first question mark.
        kind: A dataclass whose fields are the options; each default gives the option's type (int or float).

    Raises:
        UnknownNameError: An option that does not exist.
        UserError: An option without a value, given twice, or of another type.
    """
    defaults = {field.name: field.default for field in fields(kind)}  # pyright: ignore[reportArgumentType]
    values: dict[str, Any] = {}
    query = spec.partition("?")[2]
    for part in query.split("&") if query else ():
        name, equals, text = part.partition("=")
        if not equals:
            raise UserError(f"{spec!r}: the option {part!r} must be written name=value")
        if name not in defaults:
            raise UnknownNameError(f"option of {spec.partition('?')[0]}:", name, defaults)
        if name in values:
            raise UserError(f"{spec!r}: the option {name!r} is given twice")
        values[name] = _number(spec, name, unquote(text), whole=isinstance(defaults[name], int))
    return kind(**values)


def _number(spec: str, name: str, text: str, *, whole: bool) -> int | float:
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{spec!r}: {name} must be a {'whole ' if whole else ''}number, not {text!r}")
    return value
