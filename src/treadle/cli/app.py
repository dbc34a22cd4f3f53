"""The ``treadle`` command and its commands."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from treadle.cli.commands import (
    ablate,
    baseline,
    compare,
    doctor,
    eval,
    fix,
    init,
    later,
    models,
    run,
    runs,
    samples,
    search,
    space,
    trace,
)

_ABOUT = "Weave language-model calls into structures: measure them with their cost, search them, test them honestly."
_START = f"""\b
Start here:
  treadle init
  treadle doctor
  treadle baseline --task simulated:llm

Later: {", ".join(later.NAMES)}."""
_ORDER = [
    "init",
    "doctor",
    "models",
    "run",
    "eval",
    "baseline",
    "compare",
    "ablate",
    "samples",
    "space",
    "search",
    "fix",
    "runs",
    "trace",
]


@contextmanager
def _interruptible() -> Generator[None]:
    """Hand a Ctrl-C on as what typer does not turn into an exit without a word."""
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Abort from None


class _Commands(TyperGroup):
    """Lists the commands in the order in which they are met, and lets nothing make a Ctrl-C silent."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        with _interruptible():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        with _interruptible():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: _ORDER.index(name) if name in _ORDER else 99)


app = typer.Typer(
    name="treadle",
    cls=_Commands,
    help=_ABOUT,
    epilog=_START,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _treadle(  # pyright: ignore[reportUnusedFunction]
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"treadle {installed('treadle')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for _command in (
    init,
    doctor,
    models,
    run,
    eval,
    baseline,
    compare,
    ablate,
    samples,
    space,
    search,
    fix,
    runs,
    trace,
    later,
):
    _command.add_to(app)
