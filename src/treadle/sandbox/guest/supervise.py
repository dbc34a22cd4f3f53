"""Watching over work: its clock, its memory, its end, and the end of everything that it started."""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from resource import struct_rusage as Usage

    from plan import Plan, Report

PAGE = os.sysconf("SC_PAGE_SIZE")
SIGNALS = (signal.SIGCHLD, signal.SIGTERM)
"""What a supervisor waits for; blocked in it and in nothing that it starts."""

_EVERY = 0.02
_SECOND_LOOK = 0.005
_BLOCK = 4096
_AT_ONCE = 64
_BY_THE_KERNEL = (0, 0x80)
"""Codes of signals of which the kernel itself says who sent them (SI_USER, SI_KERNEL)."""


class Watch:
    """What a supervisor knows of the work that it started.

    Args:
        plan: ``limits`` (``seconds``, ``memory``, ``processes``, ``file_bytes``), ``scratch`` (private folders in
            memory), ``alone`` (whether the process namespace holds the work only).
    """

    def __init__(self, plan: Plan) -> None:
        self.limits = plan["limits"]
        self.scratch = plan["scratch"]
        self.alone = plan["alone"]
        self.began = time.monotonic()
        self.peak = 0
        self.cause = ""
        self.status: int | None = None
        self.seconds = 0.0

    def follow(self, child: int) -> Report:
        """Wait for the work's end, or bring it about; nothing of it is alive afterwards."""
        look = time.monotonic() + _SECOND_LOOK
        while not self._reap(child):
            now = time.monotonic()
            left = self.limits["seconds"] - (now - self.began)
            if left <= 0:
                self.cause = "seconds"
                break
            # By the clock, not when nothing is heard: work can keep on making a noise.
            if now >= look:
                if self._too_large():
                    break
                look = time.monotonic() + _EVERY
            told = signal.sigtimedwait(SIGNALS, min(left, max(0.0, look - now)))
            if told is not None and told.si_signo == signal.SIGTERM and self._from_outside(told):
                self.cause = "stopped"
                break
        self.seconds = time.monotonic() - self.began
        self.end(child)
        return self.report()

    def end(self, child: int) -> None:
        """Kill every process of the work and wait until it is gone."""
        while True:
            # The first process of its namespace; any other would reach this user's processes outside.
            if self.alone and os.getpid() == 1:
                _send_all(signal.SIGKILL)
            else:
                # Stopped first, for what goes on running could start others behind our back.
                for number in (signal.SIGSTOP, signal.SIGKILL):
                    for pid in descendants():
                        _send(pid, number)
            try:
                pid, status, usage = os.wait4(-1, 0)
            except ChildProcessError:
                return
            self._seen(pid, status, usage, child)

    def report(self) -> Report:
        """How it ended, as JSON values."""
        code = None if self.status is None or self.cause else os.waitstatus_to_exitcode(self.status)
        return {
            "exit": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "cause": self.cause,
            "seconds": self.seconds,
            "peak": self.peak,
        }

    def _from_outside(self, told: signal.struct_siginfo) -> bool:
        """Whether a signal is not one of the work, which may run as this user and make up who sent it."""
        if told.si_code not in _BY_THE_KERNEL:
            return False
        return told.si_pid == 0 if self.alone else told.si_pid not in descendants()

    def _reap(self, child: int) -> bool:
        for _ in range(_AT_ONCE):
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            self._seen(pid, status, usage, child)
            if pid == child:
                return True
        return False

    def _seen(self, pid: int, status: int, usage: Usage, child: int) -> None:
        self.peak = max(self.peak, usage.ru_maxrss * 1024)
        if pid == child and self.status is None:
            self.status = status
            if not self.cause and _by_clock(status, usage.ru_utime + usage.ru_stime, self.limits["cpu_seconds"]):
                self.cause = "cpu"

    def _too_large(self) -> bool:
        processes = _others() if self.alone else descendants()
        held = _held(self.scratch) if self.alone else 0
        size = held + sum(_resident(pid) for pid in processes)
        if size > self.limits["memory"]:
            # Pages that processes share stand in each one's count; dividing them up takes longer, so only now.
            size = held + sum(_share(pid) for pid in processes)
        self.peak = max(self.peak, size)
        if size > self.limits["memory"]:
            self.cause = "memory"
        elif len(processes) > self.limits["processes"]:
            self.cause = "processes"
        elif not self.alone and _on_disk(self.scratch, self.limits["file_bytes"]) > self.limits["file_bytes"]:
            self.cause = "files"
        return bool(self.cause)


def _by_clock(status: int, spent: float, most: int) -> bool:
    """Whether the kernel's clock of CPU time killed it: with SIGXCPU, or SIGKILL where that was of no avail."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return number == signal.SIGXCPU or (number == signal.SIGKILL and spent >= most)


def descendants() -> list[int]:
    """Every process below this one, by walking ``/proc``."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            children.setdefault(_parent(entry), []).append(int(entry))
    found: list[int] = []
    wave = [os.getpid()]
    while wave:
        wave = [child for pid in wave for child in children.get(pid, ())]
        found += wave
    return found


def _others() -> list[int]:
    me = os.getpid()
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != me]


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _held(folders: list[str]) -> int:
    """Bytes in folders that are memory."""
    disks = [os.statvfs(folder) for folder in folders]
    return sum((disk.f_blocks - disk.f_bfree) * disk.f_frsize for disk in disks)


def _on_disk(folders: list[str], enough: int) -> int:
    """Bytes of the files below some folders, counted until there are enough; each entry takes a block at least."""
    size = 0
    waiting = list(folders)
    while waiting and size <= enough:
        try:
            for entry in os.scandir(waiting.pop()):
                size += _BLOCK + entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
        except OSError:
            continue
    return size


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, ValueError):
        return 0


def _share(pid: int) -> int:
    """Bytes of a process, those that others have too divided by their number."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(b"Pss:")) * 1024
    except (OSError, ValueError, StopIteration):
        return _resident(pid)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _send_all(number: int) -> None:
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        pass
