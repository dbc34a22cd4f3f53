"""Proof that a sandbox isolates: attempts to get out of it, each judged from the outside."""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from treadle.sandbox.base import MIB, ExecResult, Limits, Program, Sandbox

_LIMITS = Limits(seconds=5, memory=256 * MIB, processes=24, output_bytes=256 * 1024)
_VARIABLE = "TREADLE_PROOF"
_ELSEWHERE = ("/usr", "/etc", "/var/tmp", "/")


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of one attempt to get out of a sandbox; ``ok`` where it failed, as it should."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A program that tries something, and how to see from outside whether it got it.

    ``succeeded`` takes what came back and what was laid out (`_Bait`); ``needs_processes`` marks attempts that mean
    nothing where work cannot start processes.
    """

    name: str
    goal: str
    source: str
    succeeded: Callable[[ExecResult, _Bait], bool]
    needs_processes: bool = False


class _Bait(SimpleNamespace):
    """What an attempt could get at: a file, a folder, a listener, a key in environments, a mark for processes."""

    file: Path
    secret: str
    folder: Path
    port: int
    met: list[str]
    mark: str
    key: str


_NETWORK = """\
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    try:
        link = socket.socket(socket.AF_INET, kind)
        link.settimeout(0.3)
        link.connect(("127.0.0.1", {port}))
        link.send(b"out")
    except OSError:
        pass
"""
_READING = """\
try:
    print(open({file!r}).read())
except OSError as error:
    print(error)
"""
_WRITING = """\
import os
for folder in ({folder!r}, *{elsewhere!r}):
    try:
        with open(os.path.join(folder, {mark!r}), "w") as file:
            file.write("out")
        print("wrote", folder)
    except OSError:
        pass
"""
_KEYS = """\
import glob, os
print(dict(os.environ))
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        print(open(path, "rb").read())
    except OSError:
        pass
"""
_FORKS = """\
import os, time
count = 0
for _ in range({most}):
    try:
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
    except (OSError, AttributeError):
        break
    count += 1
    print(count, flush=True)
"""
_SURVIVOR = """\
import os, sys, time
try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable or "/usr/bin/python3", ["python", "-c", "import time; time.sleep(20)", {mark!r}])
        os._exit(0)
    time.sleep(0.2)
except (OSError, AttributeError):
    pass
"""
_MEMORY = """\
held = []
for _ in range(1024):
    held.append(bytearray(b"x" * (1 << 20)))
print("all")
"""


def _leaks(result: ExecResult, bait: _Bait) -> bool:
    return bait.key in result.stdout


def _wrote(result: ExecResult, bait: _Bait) -> bool:
    del result
    found = [path for folder in (bait.folder, *_ELSEWHERE) if (path := Path(folder) / bait.mark).exists()]
    for path in found:
        path.unlink(missing_ok=True)
    return bool(found)


def _forked(result: ExecResult, bait: _Bait) -> bool:
    del bait
    return len(result.stdout.split()) > _LIMITS.processes


def _survives(result: ExecResult, bait: _Bait) -> bool:
    del result
    return any(bait.mark.encode() in _command_line(entry) for entry in Path("/proc").glob("[0-9]*"))


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


ATTEMPTS = (
    Attempt("network", "reach a listener on this machine", _NETWORK, lambda _, bait: bool(bait.met)),
    Attempt("reading", "read a file outside", _READING, lambda result, bait: bait.secret in result.stdout),
    Attempt("writing", "write outside its folder", _WRITING, _wrote),
    Attempt("keys", "find this process's environment", _KEYS, _leaks),
    Attempt("processes", "start more processes than it may", _FORKS, _forked, needs_processes=True),
    Attempt("survivor", "leave a process behind", _SURVIVOR, _survives, needs_processes=True),
    Attempt("memory", "take more memory than it may", _MEMORY, lambda result, _: "all" in result.stdout),
)
RUNNING = "running"
"""What comes before all attempts: a program that only has to run."""
QUICK = ("network", "reading", "writing", "keys")
"""What is tried before a sandbox is chosen by itself."""


async def prove(sandbox: Sandbox, names: tuple[str, ...] = ()) -> tuple[Proof, ...]:
    """Try to get out of a sandbox, each way once, after a program that only has to run.

    Args:
        sandbox: The sandbox.
        names: Which attempts; all where none is named.
    """
    ran = await sandbox.execute(Program("print('here')"), limits=_LIMITS)
    if ran.status != "ok" or ran.stdout.strip() != "here":
        why = ran.reason or ran.stderr.strip().rpartition("\n")[2] or ran.status
        return (Proof(RUNNING, False, f"a program that prints one word does not run: {why}"),)
    proofs = [Proof(RUNNING, True, f"a program ran in {1000 * ran.seconds:.0f} ms")]
    async with _laid_out() as bait:
        for attempt in ATTEMPTS:
            if names and attempt.name not in names:
                continue
            if attempt.needs_processes and not sandbox.traits.processes:
                proofs.append(Proof(attempt.name, True, "it cannot start processes"))
                continue
            proofs.append(await _tried(sandbox, attempt, bait))
    return tuple(proofs)


async def _tried(sandbox: Sandbox, attempt: Attempt, bait: _Bait) -> Proof:
    words: dict[str, Any] = {
        "port": bait.port,
        "file": str(bait.file),
        "folder": str(bait.folder),
        "mark": bait.mark,
        "elsewhere": _ELSEWHERE,
        "most": 2 * _LIMITS.processes,
    }
    result = await sandbox.execute(Program(attempt.source.format(**words)), limits=_LIMITS)
    if attempt.succeeded(result, bait):
        return Proof(attempt.name, False, f"a program could {attempt.goal}")
    return Proof(attempt.name, True, f"no program could {attempt.goal}")


@asynccontextmanager
async def _laid_out() -> AsyncGenerator[_Bait]:
    met: list[str] = []

    def arrived(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append("tcp")
        writer.close()

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
            del data, addr
            met.append("udp")

    server = await asyncio.start_server(arrived, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    udp, _ = await asyncio.get_running_loop().create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", port))
    with ExitStack() as laid_out:
        laid_out.callback(udp.close)
        laid_out.callback(server.close)
        folder = Path(laid_out.enter_context(tempfile.TemporaryDirectory()))
        yield _bait(folder, port, met, _planted(laid_out))


def _planted(laid_out: ExitStack) -> str:
    """A key in the environments of this process and of another that stands by."""
    key = secrets.token_hex(16)
    os.environ[_VARIABLE] = key
    laid_out.callback(os.environ.pop, _VARIABLE, None)
    standing_by = [sys.executable, "-ISc", "import sys; sys.stdin.read()"]
    process = subprocess.Popen(standing_by, stdin=subprocess.PIPE, env={**os.environ, _VARIABLE: key})
    laid_out.callback(process.communicate)
    return key


def _bait(folder: Path, port: int, met: list[str], key: str) -> _Bait:
    folder.chmod(0o777)
    secret = secrets.token_hex(16)
    file = folder / "secret"
    file.write_text(secret)
    file.chmod(0o644)
    mark = f"treadle-{secrets.token_hex(8)}"
    return _Bait(file=file, secret=secret, folder=folder, port=port, met=met, mark=mark, key=key)
