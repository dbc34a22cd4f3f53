"""One child process on an event loop: its pipes, its end, and what it used."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from treadle.errors import SandboxError
from treadle.sandbox.output import Kept

Process = subprocess.Popen[bytes]

GRACE_S = 0.3
"""How long a killed process may take to be gone, and its pipes to close."""

_STUCK_S = 5.0
_CHUNK = 2**16
_REPORT_BYTES = 2**20
_SLOWEST_POLL_S = 0.02


class Child:
    """A process in a session of its own, read and written without a thread and without blocking the loop.

    Args:
        output_bytes: What is kept of stdout.
        stderr_bytes: What is kept of stderr.
        flood_bytes: Output after which it is `over`.
        kill: Ends it early; what is there `GRACE_S` later is killed with its group.
    """

    def __init__(
        self, output_bytes: int, stderr_bytes: int, flood_bytes: int, kill: Callable[[Process], None] | None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = self._loop.create_future()
        """Done when it ended, or when it shall be ended because it never stops writing."""
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._drained: asyncio.Future[None] = self._loop.create_future()
        self._kill = kill or kill_group
        self._room = flood_bytes
        self._readers: dict[int, Callable[[bytes], None]] = {}
        self._stdin: tuple[int, memoryview] | None = None
        self._process: Process | None = None
        self._pidfd: int | None = None
        self._poll: asyncio.TimerHandle | None = None
        self._began = 0.0
        self.stdout, self.stderr = Kept(output_bytes), Kept(stderr_bytes)
        self.report = bytearray()
        self.code: int | None = None
        self.peak_memory: int | None = None
        self.seconds = 0.0
        self.flooded = False

    def start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        stdin: bytes,
        cwd: Path | None,
        pass_fds: Sequence[int],
        report: tuple[int, int] | None,
    ) -> None:
        """Start it; arguments as those of `treadle.sandbox.process.run_process`."""
        theirs: list[int] = []
        if report:
            self._readers[report[0]] = self._take_report
            theirs.append(report[1])
        try:
            stdout, stderr = self._output(self.stdout, theirs), self._output(self.stderr, theirs)
            given = self._input(stdin, theirs) if stdin else subprocess.DEVNULL
            self._began = time.monotonic()
            self._process = subprocess.Popen(
                argv,
                stdin=given,
                stdout=stdout,
                stderr=stderr,
                env=env,
                cwd=cwd,
                pass_fds=(*pass_fds, *(report or ())[1:]),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise SandboxError(f"{argv[0]!r} cannot be started: {error}") from error
        finally:
            for fd in theirs:
                os.close(fd)
        self._watch(self._process.pid)

    def _output(self, keeper: Kept, theirs: list[int]) -> int:
        ours, end = os.pipe()
        theirs.append(end)

        def take(chunk: bytes) -> None:
            keeper.add(chunk)
            self._room -= len(chunk)
            if self._room < 0 and not self.over.done():
                self.flooded = True
                self.over.set_result(None)

        self._readers[ours] = take
        return end

    def _input(self, stdin: bytes, theirs: list[int]) -> int:
        end, ours = os.pipe()
        theirs.append(end)
        self._stdin = (ours, memoryview(stdin))
        return end

    def _take_report(self, chunk: bytes) -> None:
        self.report += chunk[: _REPORT_BYTES - len(self.report)]

    def _watch(self, pid: int) -> None:
        for fd in self._readers:
            os.set_blocking(fd, False)
            self._loop.add_reader(fd, self._read, fd)
        if self._stdin:
            os.set_blocking(self._stdin[0], False)
            self._loop.add_writer(self._stdin[0], self._write)
        self._pidfd = pidfd(pid)
        if self._pidfd is None:
            self._look(0.001)
        else:
            self._loop.add_reader(self._pidfd, self._reap)

    def _read(self, fd: int) -> None:
        try:
            chunk = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if chunk:
            self._readers[fd](chunk)
            return
        self._loop.remove_reader(fd)
        os.close(fd)
        del self._readers[fd]
        if not self._readers:
            self._drained.set_result(None)

    def _write(self) -> None:
        assert self._stdin is not None
        fd, rest = self._stdin
        try:
            rest = rest[os.write(fd, rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            rest = rest[:0]
        self._stdin = (fd, rest)
        if not rest:
            self._close_stdin()

    def _close_stdin(self) -> None:
        if self._stdin:
            self._loop.remove_writer(self._stdin[0])
            os.close(self._stdin[0])
            self._stdin = None

    def _look(self, pause: float) -> None:
        self._reap()
        if not self._exited.done():
            self._poll = self._loop.call_later(pause, self._look, min(pause * 1.5, _SLOWEST_POLL_S))

    def _reap(self) -> None:
        assert self._process is not None
        if self._exited.done():
            return
        if self._pidfd is not None:
            # A zombie still holds its group's number: whom the signal reaches is certain only before the wait.
            kill_group(self._process)
        try:
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        except ChildProcessError:
            self._process.returncode = 0
        else:
            if not pid:
                return
            self.code = self._process.returncode = os.waitstatus_to_exitcode(status)
            self.peak_memory = _peak(usage.ru_maxrss)
        self.seconds = time.monotonic() - self._began
        if self._pidfd is None:
            kill_group(self._process)
        self._exited.set_result(None)
        if not self.over.done():
            self.over.set_result(None)

    async def finish(self) -> None:
        """End it where it did not end; see to it that its group is gone and nothing of it is left here."""
        if self._process is not None:
            if not self._exited.done():
                with contextlib.suppress(ProcessLookupError):
                    self._kill(self._process)
                await asyncio.wait([self._exited], timeout=GRACE_S)
            if not self._exited.done():
                kill_group(self._process)
                await asyncio.wait([self._exited], timeout=_STUCK_S)
            await asyncio.wait([self._drained], timeout=GRACE_S)
            self.seconds = self.seconds or time.monotonic() - self._began
        self._close()

    def _close(self) -> None:
        self._close_stdin()
        if self._poll:
            self._poll.cancel()
        ours = [*self._readers, *(() if self._pidfd is None else (self._pidfd,))]
        self._readers, self._pidfd = {}, None
        for fd in ours:
            self._loop.remove_reader(fd)
            os.close(fd)


def kill_group(process: Process) -> None:
    """Kill a process and what stayed in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def pidfd(pid: int) -> int | None:
    """A descriptor that is readable once the process ended, where the system has such."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _peak(most: int) -> int | None:
    """A child starts with its parent's peak as its own: only what is above it tells something."""
    import resource

    if most <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
        return None
    return most if sys.platform == "darwin" else most * 1024
