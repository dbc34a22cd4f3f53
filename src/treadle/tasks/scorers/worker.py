"""Killable child processes for graders whose work can hang, started when first needed."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal, cast

from treadle.errors import ProviderError, UserError

SECONDS = 5.0
"""The limit of one job, start of the process not counted."""
START_SECONDS = 120.0
SIZE = 2

_SCRIPT = Path(__file__).with_name("worker_main.py")
_KEPT = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP")


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a job: its value, or why there is none; ``timeout`` and ``death`` are the job's own doing."""

    value: Any = None
    failure: Literal["", "error", "timeout", "death"] = ""
    reason: str = ""


class _Process:
    """One child: a job at a time; killed when a job is too slow."""

    def __init__(self, kind: str) -> None:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._child = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        self._jobs = cast(IO[bytes], self._child.stdin)
        self._replies = cast(IO[bytes], self._child.stdout)
        self.ready = False

    def exchange(self, job: bytes | None, seconds: float) -> tuple[bytes, bool]:
        """Send a job (none: wait for the start) and read a reply; empty when the child died, with whether by time."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self._child.kill()

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            if job is not None:
                self._jobs.write(job + b"\n")
                self._jobs.flush()
            return self._replies.readline(), late.is_set()
        except OSError:
            return b"", late.is_set()
        finally:
            timer.cancel()

    def kill(self) -> None:
        """Send the signal and go on."""
        self._child.kill()

    def close(self) -> None:
        """Kill and reap."""
        self._child.kill()
        for pipe in (self._jobs, self._replies):
            try:
                pipe.close()
            except OSError:
                continue
        self._child.wait()


@dataclass(slots=True)
class _Errand:
    """A job on its way, so that its caller can call it off."""

    process: _Process | None = None
    off: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, process: _Process | None) -> bool:
        with self.lock:
            self.process = process
            return not self.off

    def call_off(self) -> None:
        with self.lock:
            self.off = True
            if self.process is not None:
                self.process.kill()


class WorkerPool:
    """A few children of one kind; thread-safe.

    Args:
        kind: A job kind of the child's script.
        size: Children that do jobs beside the event loop at once, and that are kept.
    """

    def __init__(self, kind: str, size: int = SIZE) -> None:
        self._kind = kind
        self._size = size
        self._idle: list[_Process] = []
        self._places = threading.Semaphore(size)
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(size, thread_name_prefix=f"treadle-{kind}")

    def ask(self, job: Mapping[str, Any], seconds: float = SECONDS) -> Reply:
        """Do a job and wait for it, in this thread; with all children busy another one is started.

        Args:
            job: JSON values.
            seconds: The job's limit.

        Raises:
            UserError: A part that the job needs is not installed.
            ProviderError: The child cannot be started.
        """
        free = self._places.acquire(blocking=False)
        try:
            return self._run(job, seconds, _Errand())
        finally:
            if free:
                self._places.release()

    async def ask_async(self, job: Mapping[str, Any], seconds: float = SECONDS) -> Reply:
        """Do a job beside the event loop; cancelling kills the child.

        Args:
            job: JSON values.
            seconds: The job's limit.

        Raises:
            UserError: A part that the job needs is not installed.
            ProviderError: The child cannot be started.
        """
        errand = _Errand()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._wait, job, seconds, errand)
        except asyncio.CancelledError:
            errand.call_off()
            raise

    def close(self) -> None:
        """End idle children; may be called at any time."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.close()

    def _wait(self, job: Mapping[str, Any], seconds: float, errand: _Errand) -> Reply:
        with self._places:
            return self._run(job, seconds, errand)

    def _run(self, job: Mapping[str, Any], seconds: float, errand: _Errand) -> Reply:
        message = json.dumps({**job, "seconds": seconds}).encode()
        # A child may die between two jobs for reasons of its own; the job that finds it dead is tried once more.
        for fresh in (False, True):
            if errand.off:
                break
            process = self._idle_process(fresh)
            if not errand.take(process):
                process.close()
                return Reply(failure="death", reason="called off")
            try:
                self._await_start(process)
                line, late = process.exchange(message, seconds)
            except BaseException:
                process.close()
                raise
            errand.take(None)
            if line:
                self._put_back(process, late)
                return _read(line)
            process.close()
            if late:
                return Reply(failure="timeout", reason=f"took longer than {seconds:g} seconds")
        return Reply(failure="death", reason="the process that did the work died")

    def _idle_process(self, fresh: bool) -> _Process:
        with self._lock:
            if self._idle and not fresh:
                return self._idle.pop()
        try:
            return _Process(self._kind)
        except OSError as error:
            raise ProviderError(f"the {self._kind} process cannot be started: {error}") from error

    def _put_back(self, process: _Process, late: bool) -> None:
        with self._lock:
            keep = not late and len(self._idle) < self._size
            if keep:
                self._idle.append(process)
        if not keep:
            process.close()

    def _await_start(self, process: _Process) -> None:
        if process.ready:
            return
        line, _ = process.exchange(None, START_SECONDS)
        started: dict[str, Any] = json.loads(line) if line else {}
        if "missing" in started:
            raise UserError(f"{started['missing']}; {_remedy(self._kind)}")
        if "ready" not in started:
            raise ProviderError(f"the {self._kind} process died while it started")
        process.ready = True


def _remedy(kind: str) -> str:
    extra = {"reasoning-gym": "treadle[tasks]"}.get(kind, "treadle")
    return f"install it with: pip install '{extra}'"


def _read(line: bytes) -> Reply:
    # The standard module, here and in the child: texts of models may hold lone surrogates.
    reply: dict[str, Any] = json.loads(line)
    if "error" in reply:
        return Reply(failure="error", reason=reply["error"])
    return Reply(reply["value"])


@cache
def worker_pool(kind: str, size: int = SIZE) -> WorkerPool:
    """The pool of a kind that the whole process shares, closed when the process ends."""
    pool = WorkerPool(kind, size)
    atexit.register(pool.close)
    return pool
