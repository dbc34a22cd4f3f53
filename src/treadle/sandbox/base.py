"""What a sandbox is: untrusted work goes in, a typed result comes out, whatever the work does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Status = Literal["ok", "failed", "timed_out", "out_of_memory", "crashed", "refused"]
"""How work ended.

``ok``: exit code 0. ``failed``: another exit code, an exception, or a text that is no program. ``timed_out``: its wall
clock or its CPU time ran out. ``out_of_memory``: it wanted more than it may have. ``crashed``: a signal killed it that
no limit sent. ``refused``: it was never started, for the reason given.
"""

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Program:
    """Python source, run as ``__main__`` by the sandbox's own interpreter in the work folder."""

    source: str


@dataclass(frozen=True, slots=True)
class Command:
    """An executable of the sandbox with its arguments; no shell reads them."""

    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What work may take.

    Attributes:
        seconds: Wall clock from its start until its last process has to be gone.
        cpu_seconds: CPU time of each process; the wall clock, rounded up, where it is not given.
        memory: Bytes: of all its processes together where the sandbox can count them, else of each.
        processes: Processes and threads at one time.
        file_bytes: Largest file; also what private folders hold altogether.
        open_files: File descriptors of each process.
        output_bytes: What is kept of each of its two output streams: half from the start, half from the end.
    """

    seconds: float = 10.0
    cpu_seconds: int | None = None
    memory: int = 512 * MIB
    processes: int = 64
    file_bytes: int = 64 * MIB
    open_files: int = 256
    output_bytes: int = 64 * 1024


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of this machine work may see besides the system and the interpreter.

    Attributes:
        folder: The work folder; an empty private one, gone afterwards, where it is not given.
        writable: Whether work may change that folder.
        readable: Further files and folders, read-only under their own paths.
        env: Environment variables besides the few that a sandbox sets; nothing else of this process's environment is
            handed on.
        network: Whether the network may be reached.
        place: Where work sees the folder; where it is on this machine, where nothing is said. Only sandboxes whose
            traits say so can show it elsewhere; the others show it where it is.
    """

    folder: Path | None = None
    writable: bool = True
    readable: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    network: bool = False
    place: Path | None = None


DEFAULT_LIMITS = Limits()
NO_SURROUNDINGS = Surroundings()


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What became of a piece of work.

    Attributes:
        status: How it ended.
        stdout: What it wrote, as UTF-8; bytes that are none are replaced. Of a longer text head and tail with a line
            between them that gives the number of bytes left out.
        stderr: The same of its errors.
        exit_code: Its exit code, where it exited.
        signal: The signal that killed it, where one did.
        seconds: Wall clock that it took.
        peak_memory: Most bytes in use at one time, where the sandbox measures that.
        truncated: Whether something of either stream was left out.
        reason: Why it was refused, or which limit ended it, in words; else empty.
    """

    status: Status
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    peak_memory: int | None = None
    truncated: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Traits:
    """What a sandbox can do.

    Attributes:
        isolated: Whether it keeps work from this machine's files, network, keys and processes.
        commands: Whether it runs a `Command`; else programs only.
        processes: Whether work may start processes of its own.
        folders: Whether it takes `Surroundings`.
        inputs: Whether it takes files and standard input.
        places: Whether it shows a folder at another path than its own.
    """

    isolated: bool = True
    commands: bool = True
    processes: bool = True
    folders: bool = True
    inputs: bool = True
    places: bool = True


class Sandbox(Protocol):
    """Runs untrusted work.

    ``execute`` may be called many times at once. It never raises for what work does, prints or is; when it returns,
    nothing that the work started is alive. A cancelled ``execute`` ends the work first.
    """

    @property
    def name(self) -> str:
        """The kind's name, such as ``bubblewrap``; what ``--sandbox`` takes."""
        ...

    @property
    def identity(self) -> str:
        """What results are remembered by: kind and interpreter, with their versions."""
        ...

    @property
    def traits(self) -> Traits:
        """What it can do."""
        ...

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = ...,
        stdin: bytes = ...,
        limits: Limits = ...,
        surroundings: Surroundings = ...,
    ) -> ExecResult:
        """Run a piece of work to its end.

        Args:
            work: What to run.
            files: Files put into the work folder first: relative path to content. A path that leaves the folder is
                refused.
            stdin: What it can read; nothing more comes after it.
            limits: What it may take.
            surroundings: What it may see of this machine.
        """
        ...

    async def aclose(self) -> None:
        """End everything that the sandbox keeps ready; may be called twice."""
        ...
