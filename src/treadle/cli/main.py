"""The ``treadle`` command: its commands, and what an error means for the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from treadle.cli.codes import DONE, INTERRUPTED, LIMITED, MISTAKE, UNUSABLE
from treadle.cli.commands import (
    baseline,
    compare,
    doctor,
    eval,
    init,
    later,
    models,
    run,
    runs,
    samples,
    search,
    trace,
)
from treadle.cli.output import say
from treadle.errors import RunLimitError, TreadleError, UnknownNameError, UserError

_DEBUG = "TREADLE_DEBUG"
_ABOUT = "Weave language-model calls into structures: measure them with their cost, search them, test them honestly."
_START = f"""\b
Start here:
  treadle init
  treadle doctor
  treadle baseline --task simulated:llm

Later: {", ".join(later.NAMES)}."""
_ORDER = ["init", "doctor", "models", "run", "eval", "baseline", "compare", "samples", "search", "runs", "trace"]


class _Ordered(TyperGroup):
    """Lists the commands in the order in which they are met."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: _ORDER.index(name) if name in _ORDER else 99)


app = typer.Typer(
    name="treadle",
    cls=_Ordered,
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


for _command in (init, doctor, models, run, eval, baseline, compare, samples, search, runs, trace, later):
    _command.add_to(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line.

    Args:
        arguments: Everything after ``treadle``; the process's own when not given.

    Returns:
        The exit code, as the contract says.
    """
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="treadle", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  no user ever sees a traceback that was not asked for
        return _told(_cause(error))
    return code if isinstance(code, int) else DONE


def _cause(error: Exception) -> Exception:
    """What to tell of a task group's failures: the user's own mistake first."""
    if not isinstance(error, ExceptionGroup):
        return error
    group: ExceptionGroup[Exception] = error  # pyright: ignore[reportUnknownVariableType]  any group of exceptions
    leaves = [_cause(each) for each in group.exceptions]
    return next((leaf for leaf in leaves if isinstance(leaf, UserError)), leaves[0])


def _told(error: Exception) -> int:
    """Say what went wrong, in one or two lines; gives the exit code."""
    if isinstance(error, typer.TyperException):
        context: Any = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "treadle"
        text = " ".join(error.format_message().split())
        say(f"{text}\n  `{path} --help` shows how it is used")
        return MISTAKE
    if os.environ.get(_DEBUG):
        import traceback

        traceback.print_exception(error)
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, UserError):
        say(text + _remedy(error))
        return MISTAKE
    if isinstance(error, RunLimitError):
        say(text)
        return LIMITED
    if isinstance(error, TreadleError | OSError):
        say(text)
        return UNUSABLE
    say(f"a bug in Treadle: {type(error).__name__}: {text[:500]}{_place(error)}; {_DEBUG}=1 shows the traceback")
    return UNUSABLE


def _remedy(error: UserError) -> str:
    """Where the names come from that a model can have, when none is near."""
    if isinstance(error, UnknownNameError) and error.kind == "model" and not error.near:
        return "; write provider:model, or give it a name as [models.NAME] in treadle.toml (`treadle init` shows how)"
    return ""


def _place(error: Exception) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return f" at {frames[-1].name}:{frames[-1].lineno}" if frames else ""


if __name__ == "__main__":
    sys.exit(main())
