"""Commands whose options stand in frozen dataclasses, so that shared options are written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

import typer


def flattened(function: Callable[..., int | None]) -> Callable[..., None]:
    """Turn a function with option dataclasses into one that typer can read.

    Every field of a parameter that is annotated with a dataclass becomes an option of its own; the function gets the
    dataclass back. What the function returns becomes the exit code; ``None`` lets a subcommand go on.

    Args:
        function: A command; it returns its exit code.
    """
    hints = get_type_hints(function, include_extras=True)
    plain: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
        else:
            keyword = inspect.Parameter.KEYWORD_ONLY
            plain.append(parameter.replace(annotation=hints[name], kind=keyword))
    expanded = [option for group in groups.values() for option in _options(group)]

    @wraps(function)
    def command(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        code = function(**given)
        if code is not None:
            raise typer.Exit(code)

    parameters = [*plain, *expanded]
    command.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name]
        )
        for field in fields(group)
    ]


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default
