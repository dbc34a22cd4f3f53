"""Reading settings of users' functions: each as the type of its parameter's annotation or default."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

Reader = tuple[Callable[[str], Any], str]
"""What reads a text (raising ``ValueError`` or ``KeyError`` where it cannot), and what the text must be, in words."""

_READERS: Mapping[str, Reader] = {
    "int": (int, "a whole number"),
    "float": (float, "a number"),
    "bool": (lambda text: {"true": True, "false": False}[text], "true or false"),
    "str": (str, "text"),
}


def reader_of(parameter: inspect.Parameter) -> Reader:
    """What reads a parameter's setting from text.

    Args:
        parameter: Its annotation says the type, else its default; it is text where neither does.
    """
    annotation: Any = parameter.annotation
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return _READERS.get(written) or _READERS.get(type(parameter.default).__name__) or _READERS["str"]
