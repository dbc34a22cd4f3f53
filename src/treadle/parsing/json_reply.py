"""Replies that are JSON and nothing else, where another form was asked for."""

from __future__ import annotations

from typing import Any, cast

from treadle.errors import FormatError
from treadle.parsing.json_text import read_json


def json_reply(text: str) -> Any:
    """Read a reply that is one JSON object or array, a fence around it aside.

    Args:
        text: A reply without thoughts.

    Returns:
        ``None`` where it is anything else.
    """
    stripped = text.strip()
    if (stripped[:1], stripped[-1:]) not in {("{", "}"), ("[", "]"), ("`", "`")}:
        return None
    try:
        return read_json(stripped)
    except FormatError:
        return None


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a JSON object; none where it is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """The items of a JSON array; none where it is something else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def first_field(value: Any, names: tuple[str, ...]) -> Any:
    """The first of some fields that an object has; what is no object is its own value."""
    if not isinstance(value, dict):
        return value
    fields = fields_of(cast("Any", value))
    return next((fields[name] for name in names if name in fields), None)
