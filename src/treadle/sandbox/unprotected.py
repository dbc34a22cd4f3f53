"""No protection: work runs as this user, with this user's files and network. Only for whom asks for it in words."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from treadle.errors import SandboxError
from treadle.sandbox.base import Command, ExecResult, Limits, Program, Surroundings, Traits
from treadle.sandbox.child import Process
from treadle.sandbox.layout import GUEST
from treadle.sandbox.plans import Streams, fault_of, limits_for, result_of
from treadle.sandbox.process import Ended, env_for, run_process, undisturbed, write_files
from treadle.sandbox.workfolder import private_folder

_GRACE_S = 1.0
_SWEEPS, _SWEEP_S = 200, 0.005
_PROGRAM = "program.py"
_NOTHING = Surroundings()
_USUAL = Limits()
_FOLDERS = ("bin", "work", "home", "tmp")


class Unprotected:
    """Runs work in a private folder with an environment of its own and within limits, but keeps it from nothing.

    Its processes are ended with it: on Linux those that left its session too, unless the work ends its supervisor and
    hides; elsewhere those of its process group.

    Args:
        supervised: Whether a supervisor watches over each piece of work, which takes Linux; without one its memory and
            processes have no limit.
    """

    name = "none"
    traits = Traits(isolated=False, places=False)

    def __init__(self, *, supervised: bool = sys.platform == "linux") -> None:
        self._supervised = supervised

    @property
    def identity(self) -> str:
        """The interpreter, with its version."""
        return f"{self.name}, {platform.python_implementation()} {platform.python_version()}"

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = {},
        stdin: bytes = b"",
        limits: Limits = _USUAL,
        surroundings: Surroundings = _NOTHING,
    ) -> ExecResult:
        """Run a piece of work to its end; see `treadle.sandbox.base.Sandbox`."""
        fault = fault_of(work, files, surroundings, limits)
        if fault:
            return ExecResult("refused", reason=fault)
        async with private_folder() as private:
            for name in _FOLDERS:
                (private / name).mkdir()
            try:
                return await self._run(work, files, stdin, limits, surroundings, private)
            except SandboxError as error:
                return ExecResult("refused", reason=str(error))

    async def _run(
        self,
        work: Program | Command,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        surroundings: Surroundings,
        private: Path,
    ) -> ExecResult:
        folder = surroundings.folder or private / "work"
        write_files(folder, files)
        path = os.pathsep.join(dict.fromkeys((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin")))
        env = env_for(surroundings, home=str(private / "home"), path=path, tmp=str(private / "tmp"))
        argv = list(work.argv) if isinstance(work, Command) else _program(work, surroundings, folder, private, env)
        plan: dict[str, Any] = {"argv": argv, "folder": str(folder), "env": env, "limits": limits_for(limits)}
        report = os.pipe() if self._supervised else None
        plan |= {"scratch": [], "alone": False, "report": report[1] if report else -1}
        told = b""
        try:
            ended = await run_process(
                [sys.executable, "-E", "-s", "-S", "-B", str(GUEST / "bare.py"), msgspec.json.encode(plan).decode()],
                env={"PATH": path},
                stdin=stdin,
                limits=replace(limits, seconds=limits.seconds + _GRACE_S) if report else limits,
                report=report,
                kill=_ask_to_end if report else None,
            )
            told = ended.report
        finally:
            if not told:
                await undisturbed(_sweep(private))
        report_of_end = _report(ended) if ended.timed_out or ended.flooded or not told else told
        return result_of(report_of_end, Streams(ended.stdout, ended.stderr, ended.truncated), limits)

    async def aclose(self) -> None:
        """Nothing is kept ready."""


def _program(work: Program, surroundings: Surroundings, folder: Path, private: Path, env: dict[str, str]) -> list[str]:
    source = work.source.encode(errors="surrogatepass")
    if surroundings.folder is None:
        write_files(folder, {_PROGRAM: source})
        return [sys.executable, _PROGRAM]
    # A folder that is not ours gets no file that was not asked for; its modules are found behind this one.
    write_files(private / "bin", {"__main__.py": source})
    env.setdefault("PYTHONPATH", str(folder))
    return [sys.executable, str(private / "bin" / "__main__.py")]


def _ask_to_end(process: Process) -> None:
    process.terminate()


def _report(ended: Ended) -> bytes:
    """How the process itself ended, where no supervisor said how the work did."""
    cause = "cpu" if ended.signal == signal.SIGXCPU else ""
    if ended.timed_out or ended.flooded:
        cause = "seconds" if ended.timed_out else "flood"
    return msgspec.json.encode(
        {
            "exit": None if cause else ended.exit_code,
            "signal": None if cause else ended.signal,
            "cause": cause,
            "seconds": ended.seconds,
            "peak": ended.peak_memory or 0,
        }
    )


async def _sweep(private: Path) -> None:
    """Kill what outlived its supervisor, until nothing is left that its environment gives away (on Linux)."""
    for _ in range(_SWEEPS):
        if sys.platform != "linux" or not _kill_marked(f"HOME={private}/".encode()):
            return
        await asyncio.sleep(_SWEEP_S)


def _kill_marked(mark: bytes) -> bool:
    found = False
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            pid = int(process.name)
            if mark in (process / "environ").read_bytes():
                found = True
                os.kill(pid, signal.SIGKILL)
    return found
