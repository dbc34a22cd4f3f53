"""A user's own function as a workflow, with the settings that its parameters take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from treadle.errors import UserError
from treadle.workflows.base import AnswerFunction, Calls, Workflow
from treadle.workflows.decorator import check_function, name_of
from treadle.workflows.parameters import reader_of
from treadle.workflows.settings import refuse_setting, with_options

_UNKNOWN_CALLS = Calls(1, None)


def own_workflow(function: object, name: str = "", options: Mapping[str, str] | None = None) -> Workflow:
    """Make a workflow of a user's own async function.

    Args:
        function: An async function of a problem and a run; more parameters are settings.
        name: What it is called; its own name when not given.
        options: Settings as texts; each is read as the type of its parameter's annotation or default.

    Raises:
        UserError: The function is no workflow, or does not take a setting or its value.
    """
    shown = name or name_of(cast("Callable[..., Any]", function))
    parameters = list(check_function(function, shown).parameters.values())
    known = {p.name: p for p in parameters[2:] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
    values: dict[str, Any] = {}
    for option, text in (options or {}).items():
        if option in known:
            values[option] = _read(shown, known[option], text)
        elif anything:
            values[option] = text
        else:
            refuse_setting(shown, option, [f"{each} ({reader_of(p)[1]})" for each, p in known.items()], known)
    missing = [p.name for p in known.values() if p.default is p.empty and p.name not in values]
    if missing:
        raise UserError(f"{shown} needs the setting {missing[0]}: write {shown}?{missing[0]}=…")
    changed = {option: value for option, value in values.items() if _changes(known.get(option), value)}
    answer = cast("AnswerFunction", functools.partial(cast("Callable[..., Any]", function), **changed))
    return Workflow(with_options(shown, changed), answer, _UNKNOWN_CALLS)


def _read(name: str, parameter: inspect.Parameter, text: str) -> Any:
    read, words = reader_of(parameter)
    try:
        return read(text)
    except (ValueError, KeyError):
        raise UserError(f"{name}: {parameter.name} must be {words}, not {text!r}") from None


def _changes(parameter: inspect.Parameter | None, value: Any) -> bool:
    return parameter is None or value != parameter.default
