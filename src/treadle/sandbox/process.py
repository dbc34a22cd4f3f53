"""The host's side of a sandbox that starts an operating-system process: bounded in time, memory and what it leaves."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from treadle.errors import SandboxError
from treadle.sandbox.base import Limits, Surroundings
from treadle.sandbox.child import Child, Process

T = TypeVar("T")

FLOOD_BYTES = 2**30
"""Output after which a process is ended: nobody reads that much, and reading it costs the host its time."""


class RefusedPathError(SandboxError):
    """A file shall not be written where it was asked for; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    Attributes:
        exit_code: Its exit code, where it exited.
        signal: The signal that killed it, where one did.
        stdout: Head and tail of its output, as UTF-8.
        stderr: The same of its errors.
        truncated: Whether something of either was left out.
        seconds: Wall clock from its start until its main process ended.
        timed_out: Whether the wall clock ended it.
        flooded: Whether it was ended because it never stopped writing.
        peak_memory: Most bytes in use by the main process or a child it waited for; ``None`` where that is not above
            this process's own peak, which a child's starts from.
        report: What was written to the report's pipe, up to 1 MiB.
    """

    exit_code: int | None
    signal: int | None
    stdout: str
    stderr: str
    truncated: bool
    seconds: float
    timed_out: bool = False
    flooded: bool = False
    peak_memory: int | None = None
    report: bytes = b""


async def run_process(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: bytes = b"",
    limits: Limits,
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
    report: tuple[int, int] | None = None,
    kill: Callable[[Process], None] | None = None,
    flood_bytes: int = FLOOD_BYTES,
    stderr_bytes: int | None = None,
) -> Ended:
    """Run a process in a session of its own to its end; kill its process group at the limit and after its end.

    Descendants that left the group (``setsid``) are the duty of a supervisor or a pid namespace that ``argv`` starts;
    their hold on the pipes delays nothing for longer than 0.3 s. A cancelled call kills before it returns.

    Args:
        argv: The executable and its arguments.
        env: Its whole environment.
        stdin: What it can read; it need not.
        limits: Its ``seconds`` and ``output_bytes`` are kept here; the rest is for ``argv`` to keep.
        cwd: Where it starts.
        pass_fds: Descriptors that it inherits besides its three streams.
        report: Both ends of an ``os.pipe()``: the second is handed on too, what arrives at the first is returned. Both
            are closed here.
        kill: How to end it early, such as by a signal that lets a supervisor end what it started; what is there 0.3 s
            later is killed with its group. Without it that is done at once.
        flood_bytes: Bytes of output after which it is killed.
        stderr_bytes: What is kept of stderr; where it is not given, ``output_bytes`` as of stdout.

    Raises:
        SandboxError: It could not be started.
    """
    kept = limits.output_bytes
    child = Child(kept, kept if stderr_bytes is None else stderr_bytes, flood_bytes, kill)
    timed_out = False
    try:
        child.start(argv, env, stdin, cwd, pass_fds, report)
        await asyncio.wait([child.over], timeout=limits.seconds)
        timed_out = not child.over.done()
    finally:
        await undisturbed(child.finish())
    code = child.code
    return Ended(
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        stdout=child.stdout.text(),
        stderr=child.stderr.text(),
        truncated=child.stdout.truncated or child.stderr.truncated,
        seconds=child.seconds,
        timed_out=timed_out,
        flooded=child.flooded,
        peak_memory=child.peak_memory,
        report=bytes(child.report),
    )


async def undisturbed(last: Coroutine[Any, Any, T]) -> T:
    """Await to the end, whoever cancels meanwhile; the cancellation counts afterwards."""
    task = asyncio.ensure_future(last)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return task.result()


def env_for(surroundings: Surroundings, *, home: str, path: str, tmp: str) -> dict[str, str]:
    """The whole environment of work: what Python needs to run the same everywhere, and what was given in words.

    Args:
        surroundings: Its ``env`` comes on top.
        home: A folder of the sandbox.
        path: Where executables are looked for.
        tmp: A folder of the sandbox.
    """
    return {
        "PATH": path,
        "HOME": home,
        "TMPDIR": tmp,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **surroundings.env,
    }


def parts_of(path: str) -> tuple[str, ...]:
    """The names that a relative path goes through, outermost first.

    Raises:
        RefusedPathError: It is none, or may lead out of its folder.
    """
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or not parts or path.endswith(("/", "/.")):
        raise RefusedPathError(f"{path!r} is no relative path of a file")
    if ".." in parts or "\0" in path:
        raise RefusedPathError(f"{path!r} may lead out of the work folder")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise RefusedPathError(f"{path!r} is no name that a file can have") from error
    return parts


def write_files(folder: Path, files: Mapping[str, bytes], *, owner: tuple[int, int] | None = None) -> None:
    """Write files below a folder that untrusted work may have changed: no link is ever followed.

    Args:
        folder: The work folder.
        files: Relative path to content; a file that is there is replaced.
        owner: User and group that files and new folders shall belong to.

    Raises:
        RefusedPathError: A path leaves the folder, goes through a link, or cannot be written.
    """
    checked = {path: parts_of(path) for path in files}
    for path, parts in checked.items():
        try:
            with contextlib.ExitStack() as opened:
                at = _opened(opened, os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
                for name in parts[:-1]:
                    at = _opened(opened, _folder_at(name, at, owner))
                _write_at(parts[-1], at, files[path], owner)
        except OSError as error:
            raise RefusedPathError(f"{path!r} cannot be written into the work folder: {error.strerror}") from error


def _opened(stack: contextlib.ExitStack, fd: int) -> int:
    stack.callback(os.close, fd)
    return fd


def _folder_at(name: str, at: int, owner: tuple[int, int] | None) -> int:
    made = True
    try:
        os.mkdir(name, dir_fd=at)
    except FileExistsError:
        made = False
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
    if made:
        _give(fd, 0o755, owner)
    return fd


def _write_at(name: str, at: int, content: bytes, owner: tuple[int, int] | None) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=at)
    with os.fdopen(fd, "wb") as file:
        _give(fd, 0o644, owner)
        file.write(content)


def _give(fd: int, mode: int, owner: tuple[int, int] | None) -> None:
    os.fchmod(fd, mode)
    if owner:
        os.fchown(fd, *owner)
