"""Help screens: plain, quick to show, options in groups, always an example."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

from treadle.cli.signature import flattened

_ARGUMENTS, _SHARED = "Arguments", "Options"


class GroupedCommand(TyperCommand):
    """A command whose help shows its options in their groups, and whose numbers are numbers."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; ``nan`` and ``inf`` are no numbers that an option takes."""
        rest = super().parse_args(ctx, args)
        parameters: list[Any] = self.get_params(ctx)
        for parameter in parameters:
            value = ctx.params.get(parameter.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise typer.BadParameter(f"{value:g} is not a finite number.", ctx=ctx, param=parameter)
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments first, then the groups in order of their first option."""
        groups: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _SHARED: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                if parameter.param_type_name == "argument":
                    groups[_ARGUMENTS].append((record[0].partition(" <")[0], record[1]))
                else:
                    groups.setdefault(getattr(parameter, "rich_help_panel", None) or _SHARED, []).append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def add(app: typer.Typer, name: str, function: Callable[..., int], example: str, **settings: Any) -> None:
    """Add a command.

    Args:
        app: Where to.
        name: The command's name.
        function: The command; its docstring is its help, what it returns its exit code.
        example: One or more command lines, each on its own line, shown at the end of the help.
        settings: More for typer.
    """
    text = (function.__doc__ or "").strip()
    app.command(
        name,
        cls=GroupedCommand,
        help=text,
        short_help=text.partition("\n")[0].rstrip("."),
        epilog=epilog(example),
        **settings,
    )(flattened(function))


def epilog(example: str) -> str:
    """The end of a help screen.

    Args:
        example: One or more command lines.
    """
    lines = "\n".join(f"  {line}" for line in example.strip().splitlines())
    return f"\b\nExample:\n{lines}"
