"""What was really given on the command line, so that nothing given is passed over in silence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import typer

from treadle.errors import UserError


def given_options(context: typer.Context) -> dict[str, str]:
    """The options that stand on the command line: parameter name to flag.

    Args:
        context: The command's context.
    """
    found: dict[str, str] = {}
    command: Any = context.command
    for parameter in command.params:
        source = context.get_parameter_source(parameter.name)
        if parameter.param_type_name == "option" and source is not None and source.name == "COMMANDLINE":
            off = bool(parameter.secondary_opts) and context.params.get(parameter.name) is False
            found[parameter.name] = (parameter.secondary_opts if off else parameter.opts)[0]
    return found


def refuse(given: Mapping[str, str], useless: Collection[str], why: str) -> None:
    """Refuse options that would do nothing.

    Args:
        given: As `given_options` gives it.
        useless: Names of parameters.
        why: What the options belong to, to follow their flags.

    Raises:
        UserError: When one of them is given.
    """
    flags = [flag for name, flag in given.items() if name in useless]
    if flags:
        raise UserError(f"{', '.join(flags)}: {why}")
