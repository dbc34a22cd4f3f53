"""A warm box: it forks a fresh process with its own files for one program at a time."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec

from treadle.errors import SandboxError
from treadle.sandbox.base import ExecResult, Limits
from treadle.sandbox.output import Kept
from treadle.sandbox.plans import Streams, result_of
from treadle.sandbox.sealed import sealed

Spawn = Callable[[int, int], subprocess.Popen[bytes]]
"""Starts a box that serves on a descriptor, as the slot with this number."""

_PIPE = 1 << 16
_ALWAYS_FITS = 4096
"""Bytes that any pipe takes at once: a user with many pipes gets new ones of a single page."""

_FLOOD = 1 << 30
_GRACE_S = 1.0
_START_S = 20.0
_ANSWER = 1 << 16


def end_box(outside: subprocess.Popen[bytes]) -> None:
    """Kill the first process inside a box.

    The kernel kills the others with it before the process outside, which waits for it, ends: so when that has ended,
    nothing of the box is alive.

    Args:
        outside: The process that made the box.
    """
    if outside.poll() is not None:
        return
    first = children(outside.pid)
    for process in first:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    if not first:
        outside.kill()


def children(parent: int) -> list[int]:
    """The numbers of a process's children."""
    try:
        return [int(child) for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    except OSError:
        return []


class BoxGoneError(SandboxError):
    """A box ended by something from outside."""


class Cell:
    """One box, one program at a time."""

    def __init__(self, spawn: Spawn, slot: int) -> None:
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._link.setblocking(False)
        try:
            with theirs:
                self._process = spawn(theirs.fileno(), slot)
        except BaseException:
            self._link.close()
            raise
        self.slot = slot
        self._flooded = False

    async def ready(self) -> None:
        """Wait until it serves.

        Raises:
            SandboxError: It ended instead.
        """
        try:
            async with asyncio.timeout(_START_S):
                said = await self._answer()
        except (TimeoutError, OSError):
            said = b""
        if said != b"ready":
            self.kill()
            stderr = self._process.stderr.read() if self._process.stderr else b""
            raise SandboxError(
                f"a box cannot be started: {stderr.decode(errors='replace').strip() or 'no reason given'}"
            )

    async def run(self, plan: Mapping[str, Any], payload: bytes, stdin: bytes, limits: Limits) -> ExecResult:
        """Run a program to its end; nothing of it is alive afterwards.

        Raises:
            BoxGoneError: The box ended, which no program can bring about.
        """
        self._flooded = False
        streams, descriptors = self._opened(stdin, payload, limits)
        try:
            self._send(plan, descriptors)
            for stream in streams:
                stream.listen()
            async with asyncio.timeout(limits.seconds + _GRACE_S):
                report = await self._answer()
        except TimeoutError:
            self.kill()
            report = b'{"cause": "seconds", "seconds": %f}' % limits.seconds
        except OSError:
            report = b""
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            for stream in streams:
                stream.close()
        if not report:
            self.kill()
            if not self._flooded:
                raise BoxGoneError("the box ended before the program did")
            report = b'{"cause": "flood"}'
        out, err = (stream.kept for stream in streams)
        return result_of(report, Streams(out.text(), err.text(), out.truncated or err.truncated), limits)

    def _opened(self, stdin: bytes, payload: bytes, limits: Limits) -> tuple[list[_Stream], list[int]]:
        """The outputs, and what the box is handed; where not all can be opened, none is left open."""
        streams: list[_Stream] = []
        with ExitStack() as opened:
            descriptors = [_readable(stdin)]
            opened.callback(os.close, descriptors[0])
            for _ in range(2):
                streams.append(_Stream(limits.output_bytes, self._flood))
                opened.callback(streams[-1].close)
                descriptors.append(streams[-1].theirs)
                opened.callback(os.close, streams[-1].theirs)
            descriptors.append(_readable(payload))
            opened.pop_all()
        return streams, descriptors

    def _send(self, plan: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        try:
            socket.send_fds(self._link, [msgspec.json.encode(plan)], descriptors)
        except OSError as error:
            raise BoxGoneError(str(error)) from error
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    @property
    def alive(self) -> bool:
        """Whether it can run another program."""
        return self._process.poll() is None

    def _flood(self) -> None:
        self._flooded = True
        self.kill()

    def kill(self) -> None:
        """End the box and everything in it."""
        end_box(self._process)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        self._process.kill()
        self._process.wait()
        if self._process.stderr and not self._process.stderr.closed:
            os.set_blocking(self._process.stderr.fileno(), False)

    def close(self) -> None:
        """End it for good."""
        self.kill()
        self._link.close()
        if self._process.stderr:
            self._process.stderr.close()

    async def _answer(self) -> bytes:
        return await asyncio.get_running_loop().sock_recv(self._link, _ANSWER)


class _Stream:
    """One output of a program, read while it runs."""

    def __init__(self, limit: int, flooded: Callable[[], None]) -> None:
        self._ours, self.theirs = os.pipe()
        os.set_blocking(self._ours, False)
        self.kept = Kept(limit)
        self._flooded = flooded

    def listen(self) -> None:
        asyncio.get_running_loop().add_reader(self._ours, self._read)

    def _read(self) -> bool:
        try:
            chunk = os.read(self._ours, _PIPE)
        except BlockingIOError:
            return False
        if chunk:
            self.kept.add(chunk)
            if self.kept.total > _FLOOD:
                self._flooded()
            return True
        asyncio.get_running_loop().remove_reader(self._ours)
        return False

    def close(self) -> None:
        while self._read():
            pass
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)


def _readable(content: bytes) -> int:
    """A descriptor to read some bytes from."""
    if not content:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    if len(content) <= _ALWAYS_FITS:
        ours, theirs = os.pipe()
        os.write(theirs, content)
        os.close(theirs)
        return ours
    with ExitStack() as opened:
        descriptor = sealed(content, opened)
        opened.pop_all()
    return descriptor
