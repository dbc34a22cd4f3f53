"""What is told to the inside of a sandbox about one piece of work, and how its report becomes a result."""

from __future__ import annotations

import math
import os
import signal
import struct
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import PurePosixPath
from typing import Any

import msgspec

from treadle.sandbox.base import (
    DEFAULT_LIMITS,
    MIB,
    NO_SURROUNDINGS,
    Command,
    ExecResult,
    Limits,
    Program,
    Surroundings,
)
from treadle.sandbox.layout import Layout
from treadle.sandbox.places import STAGED, fault_of_surroundings, is_text, views
from treadle.sandbox.process import RefusedPathError, env_for, parts_of

WORK, HOME, SCRATCH = "/tmp/work", "/tmp/home", "/tmp"
_ADDRESS_SPACE = 4
_LARGEST = 2**40
_LONGEST_COMMAND, _LONGEST_NAME = 2**16, 255
_HEAD = struct.Struct(">IQ")


class Report(msgspec.Struct, forbid_unknown_fields=True):
    """What the inside says became of a piece of work; see ``guest/plan.py``."""

    exit: int | None = None
    signal: int | None = None
    cause: str = ""
    why: str = ""
    seconds: float = 0.0
    peak: int = 0


def plan_for(
    work: Program | Command, layout: Layout, limits: Limits, surroundings: Surroundings, *, user: int | None
) -> dict[str, Any]:
    """A piece of work as JSON values, for a box that stands already.

    Args:
        work: What to run.
        layout: The sandbox's files.
        limits: What it may take.
        surroundings: What it may see.
        user: The user to become; ``None`` to stay who one is.
    """
    shown = views(surroundings)
    given = surroundings.folder
    return {
        "outer": "made",
        "binds": [] if given is None else [(str(given), STAGED, surroundings.writable)],
        "place": None if given is None else {"staged": STAGED, "at": shown.at, "on_top": shown.on_top},
        "links": [],
        "texts": [],
        "network": "host" if surroundings.network else "none" if isinstance(work, Program) else "loopback",
        "serve": None,
        "ready": None,
        "report": -1,
        "payload": -1,
        "argv": None if isinstance(work, Program) else list(work.argv),
        "program": program_path(surroundings),
        "folder": shown.at or WORK,
        "env": env_for(surroundings, home=HOME, path=layout.path, tmp=SCRATCH),
        "uid": user,
        "landlock": None,
        "limits": limits_for(limits),
        "scratch": [SCRATCH],
        "covered": [path for path in layout.readable if path.startswith(f"{SCRATCH}/")],
        "private": True,
        "alone": True,
        "owner": None,
    }


def limits_for(limits: Limits) -> dict[str, Any]:
    """Limits as the inside keeps them: memory of all processes by watching, of each by the kernel."""
    return {
        "seconds": limits.seconds,
        "cpu_seconds": cpu_seconds(limits),
        "memory": limits.memory,
        "address_space": _ADDRESS_SPACE * limits.memory + 512 * MIB,
        "processes": limits.processes,
        "file_bytes": limits.file_bytes,
        "open_files": limits.open_files,
    }


def cpu_seconds(limits: Limits) -> int:
    """CPU time of each process in whole seconds, as kernels count it."""
    return limits.cpu_seconds or max(1, math.ceil(limits.seconds))


def fault_of(
    work: Program | Command,
    files: Mapping[str, bytes],
    surroundings: Surroundings = NO_SURROUNDINGS,
    limits: Limits = DEFAULT_LIMITS,
) -> str:
    """Why a piece of work cannot be started at all, by what was asked alone; empty where it can."""
    return _bad_limits(limits) or fault_of_surroundings(surroundings) or _bad_work(work, files)


def _bad_limits(limits: Limits) -> str:
    if not (math.isfinite(limits.seconds) and limits.seconds > 0):
        return f"a limit of {limits.seconds} s is none: it must be above 0, and finite"
    for each in fields(limits):
        amount = getattr(limits, each.name)
        if each.name != "seconds" and amount is not None and not 1 <= amount <= _LARGEST:
            return f"the limit {each.name} must be from 1 to 2**40, not {amount}"
    return ""


def _bad_work(work: Program | Command, files: Mapping[str, bytes]) -> str:
    if isinstance(work, Command):
        if not work.argv or not work.argv[0]:
            return "the command is empty"
        if not all(map(is_text, work.argv)):
            return "an argument is no UTF-8 text, or holds a NUL character, which no command line can"
        if sum(len(part.encode()) + 1 for part in work.argv) > _LONGEST_COMMAND:
            return f"the command is longer than {_LONGEST_COMMAND:,} bytes; put what is long into a file or its stdin"
    for name in files:
        try:
            parts_of(name)
        except RefusedPathError as error:
            return str(error)
        if not is_text(name):
            return f"the file name {name!r} is no UTF-8 text"
        if any(len(part.encode()) > _LONGEST_NAME for part in PurePosixPath(name).parts):
            return f"the file name {name[:40]!r}… has a part of more than {_LONGEST_NAME} bytes"
    folders = {str(parent) for name in files for parent in PurePosixPath(name).parents}
    both = next((name for name in files if str(PurePosixPath(name)) in folders), None)
    return "" if both is None else f"{both!r} would be a file and a folder"


def packed(files: Mapping[str, bytes]) -> bytes:
    """Files as the inside unpacks them."""
    parts: list[bytes] = []
    for name, content in files.items():
        path = os.fsencode(name)
        parts += (_HEAD.pack(len(path), len(content)), path, content)
    return b"".join(parts)


def all_files(work: Program | Command, files: Mapping[str, bytes], program: str) -> Mapping[str, bytes]:
    """What to put into the work folder, and the program's own text.

    Args:
        work: The work.
        files: What was given for the folder.
        program: Where the program's text goes.
    """
    if isinstance(work, Command):
        return files
    return {**files, program: work.source.encode("utf-8", "surrogatepass")}


def program_path(surroundings: Surroundings, *, work: str = WORK, home: str = HOME) -> str:
    """Where a program's own text goes: into a private work folder, but never into a folder of somebody's."""
    return f"{work if surroundings.folder is None else home}/program.py"


@dataclass(frozen=True, slots=True)
class Streams:
    """What was kept of a piece of work's output."""

    stdout: str
    stderr: str
    truncated: bool


def result_of(report: bytes, streams: Streams, limits: Limits) -> ExecResult:
    """A report and the outputs as a result.

    Args:
        report: What came from inside; from the supervisor, never from the work.
        streams: The outputs.
        limits: What the work was allowed.
    """
    try:
        read = msgspec.json.decode(report, type=Report)
    except (msgspec.DecodeError, msgspec.ValidationError):
        read = Report(cause="lost")
    status, reason = _status(read, streams.stderr, limits)
    return ExecResult(
        status,
        streams.stdout,
        streams.stderr,
        read.exit,
        read.signal,
        read.seconds,
        read.peak or None,
        streams.truncated,
        reason,
    )


def _status(report: Report, stderr: str, limits: Limits) -> tuple[Any, str]:
    ended = {
        "seconds": ("timed_out", f"it ran for more than {limits.seconds:g} s"),
        "cpu": ("timed_out", f"it took more than {cpu_seconds(limits)} s of CPU time"),
        "memory": ("out_of_memory", f"its processes took more than {limits.memory // MIB} MiB together"),
        "processes": ("failed", f"it had more than {limits.processes} processes"),
        "files": ("failed", f"its files took more than {limits.file_bytes // MIB} MiB together"),
        "stopped": ("refused", "it was stopped from outside"),
        "refused": ("refused", report.why),
        "flood": ("failed", "it never stopped writing"),
        "lost": ("refused", "the sandbox ended before the work did"),
    }
    if report.cause:
        return ended[report.cause]
    if report.signal is not None:
        return "crashed", f"it was killed by {_signal_name(report.signal)}"
    if report.exit == 0:
        return "ok", ""
    if report.exit == 1 and _lacked_memory(_last_line(stderr)):
        return "out_of_memory", f"it wanted more than {limits.memory // MIB} MiB"
    return "failed", ""


def _lacked_memory(line: str) -> bool:
    """Whether a program's last words are Python's or numpy's for a lack of memory; a parser's have others behind."""
    name, _, _ = line.partition(": Unable to allocate")
    return name == "MemoryError" or name.endswith("ArrayMemoryError")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
