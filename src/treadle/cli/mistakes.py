"""What an error means for the exit code, and what is said of it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import typer

from treadle.cli.codes import LIMITED, MISTAKE, UNUSABLE
from treadle.cli.output import say
from treadle.errors import RunLimitError, TreadleError, UnknownNameError, UserError

_DEBUG = "TREADLE_DEBUG"
_KINDS = {"integer": "a whole number", "number": "a number"}
_NUMBER = re.compile(r"Input should be a valid (integer|number)\b.*")
_BOUND = re.compile(r"Input should be (greater|less) than or equal to (\S+)")


def told(error: Exception) -> int:
    """Say what went wrong, in one or two lines; gives the exit code.

    Args:
        error: What ended a command; of a group, the user's own mistake is told first.
    """
    error = _cause(error)
    if isinstance(error, typer.TyperException):
        context: Any = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "treadle"
        say(f"{_misread(error)}\n  `{path} --help` shows how it is used")
        return MISTAKE
    if os.environ.get(_DEBUG):
        import traceback

        traceback.print_exception(error)
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, UserError):
        say(_with_remedy(error, text))
        return MISTAKE
    if isinstance(error, RunLimitError):
        say(text)
        return LIMITED
    if isinstance(error, TreadleError | OSError):
        say(text)
        return UNUSABLE
    say(f"a bug in Treadle: {type(error).__name__}: {text[:500]}{_place(error)}; {_DEBUG}=1 shows the traceback")
    return UNUSABLE


def _cause(error: Exception) -> Exception:
    """What to tell of a task group's failures: the user's own mistake first."""
    if not isinstance(error, ExceptionGroup):
        return error
    group: ExceptionGroup[Exception] = error  # pyright: ignore[reportUnknownVariableType]  any group of exceptions
    leaves = [_cause(each) for each in group.exceptions]
    return next((leaf for leaf in leaves if isinstance(leaf, UserError)), leaves[0])


def _misread(error: typer.TyperException) -> str:
    """What is wrong with the command line; of numbers in our own words."""
    text = " ".join(error.format_message().split())
    flags: list[str] = getattr(getattr(error, "param", None), "opts", [])
    message = str(getattr(error, "message", ""))
    if flags and (kind := _NUMBER.fullmatch(message)):
        return f"{flags[0]} takes {_KINDS[kind[1]]}"
    if flags and (bound := _BOUND.fullmatch(message)):
        return f"{flags[0]} takes {bound[2]} or {'more' if bound[1] == 'greater' else 'less'}"
    return text


def _with_remedy(error: UserError, text: str) -> str:
    """The message with what to write instead, where the command line knows more than the error."""
    if not isinstance(error, UnknownNameError):
        return text
    if error.kind == "model" and not error.near:
        way = "write provider:model, or give it a name as [models.NAME] in treadle.toml (`treadle init` shows how)"
        return f"{text}; {way}"
    if error.kind == "run":
        return f"{text}{'' if error.near else ';'} `treadle runs` lists them"
    if error.kind == "task" and (error.name.endswith(".jsonl") or Path(error.name).is_file()):
        return f"unknown task {error.name!r}; write jsonl:{error.name}"
    return text


def _place(error: Exception) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return f" at {frames[-1].name}:{frames[-1].lineno}" if frames else ""
