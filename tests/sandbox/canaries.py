"""Canaries: files, listeners, a terminal and a process of this machine, of which no sandbox may let anything out."""

from __future__ import annotations

import contextlib
import os
import platform
import pty
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from system_calls import ABSENT, REFUSED, numbers

from treadle.sandbox.layout import GUEST

PREFIX = "canary:"
KEY = PREFIX + "0" * 32
"""What stands in the environment of the process that has the sandbox."""
ELSEWHERE = ("/", "/usr", "/etc", "/dev", "/var/tmp", "/opt", str(GUEST))
VICTIM = """\
import ctypes, os, sys, time
secret = ctypes.create_string_buffer(sys.stdin.readline().strip().encode())
ctypes.CDLL(None).prctl(0x59616D61, -1, 0, 0, 0)
unlinked = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
os.unlink(sys.argv[1])
os.write(unlinked, secret.value)
print(ctypes.addressof(secret), flush=True)
sys.stdin.read()
"""


@dataclass(slots=True)
class Canaries:
    """What is laid out for one attack.

    Attributes:
        mark: The name of the attack's processes and of what it leaves behind.
        secret: What nobody inside may learn.
        root: Holds everything else.
        file: A file with the secret in a folder of its own, readable by everybody.
        work: A folder that may be handed to the attack.
        listeners: By what they listen for.
        terminal: The side of a terminal at which its user sits, and the name of the other side.
        victim: A process with the secret in its environment, its memory and an open file.
    """

    mark: str
    secret: str
    root: Path
    listeners: dict[str, socket.socket]
    terminal: tuple[int, str]
    victim: subprocess.Popen[str] | None = None
    address: int = 0
    left: list[Path] = field(default_factory=list[Path])

    @property
    def file(self) -> Path:
        """The file with the secret."""
        return self.root / "outside" / "secret"

    @property
    def work(self) -> Path:
        """A folder of the user's that an attack may get."""
        return self.root / "work"

    def bait(self, *, sandboxed: bool) -> dict[str, Any]:
        """What an attack is told; never the secret itself."""
        ports = {name: each.getsockname()[1] for name, each in self.listeners.items() if name not in _NAMED}
        libraries = [path for path in sys.path if path] if sandboxed else [str(self.root / "library")]
        return {
            "mark": self.mark,
            "file": str(self.file),
            "folder": str(self.file.parent),
            "elsewhere": ELSEWHERE if sandboxed else (),
            "libraries": libraries,
            "project": str(Path(__file__).parents[2]),
            "prefix": PREFIX,
            "ports": ports,
            "socket": str(self.root / "outside" / "socket"),
            "terminal": self.terminal[1],
            "victim": self.victim.pid if self.victim else 0,
            "address": self.address,
            "calls": numbers(REFUSED, platform.machine()) | numbers(ABSENT, platform.machine()),
            "sandboxed": sandboxed,
            "processes": str(Path("/proc/self/ns/pid").readlink()),
        }

    def met(self, *names: str) -> bool:
        """Whether a listener heard anything."""
        return any(_heard(listener) for name, listener in self.listeners.items() if not names or name in names)

    def touched(self) -> bool:
        """Whether anything of them was changed, reached or ended."""
        return self.met() or self._written() or _typed(self.terminal[0]) or self.hurt()

    def hurt(self) -> bool:
        """Whether the process was ended or stopped."""
        if self.victim is None:
            return False
        _, status = os.waitpid(self.victim.pid, os.WNOHANG | os.WUNTRACED)
        if status and not os.WIFSTOPPED(status):
            self.victim.returncode = os.waitstatus_to_exitcode(status)
        return status != 0

    def _written(self) -> bool:
        places = [Path(folder) / self.mark for folder in (*ELSEWHERE, *sys.path, "/tmp", "/dev/shm") if folder]
        self.left += [path for path in places if path.exists()]
        outside = self.file.parent
        return (
            bool(self.left)
            or {path.name for path in outside.iterdir()} != {"secret", "socket"}
            or self.file.read_text() != self.secret
            or self.file.stat().st_mode & 0o7777 != 0o644
            or any((self.root / "library").iterdir())
        )

    def alive(self) -> list[int]:
        """Processes of the attack that are still there."""
        return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit() and self._ours(each)]

    def _ours(self, process: Path) -> bool:
        try:
            named = (process / "comm").read_text().strip() == self.mark
            return named or self.mark.encode() in (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            return False

    def clear(self) -> None:
        """End and remove what an attack left where nothing stopped it."""
        for pid in self.alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for path in self.left:
            path.unlink(missing_ok=True)


_NAMED = ("abstract", "path")


def _heard(listener: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(4096)
        else:
            listener.accept()[0].close()
        return True
    return False


def _typed(terminal: int) -> bool:
    with contextlib.suppress(BlockingIOError, OSError):
        return bool(os.read(terminal, 4096))
    return False


@contextlib.contextmanager
def laid_out(*, victim: bool = False) -> Generator[Canaries]:
    """Lay canaries out for one attack, and clear everything away afterwards."""
    with contextlib.ExitStack() as stack:
        root = Path(tempfile.mkdtemp(prefix="canaries-", dir="/var/tmp"))
        stack.callback(shutil.rmtree, root, ignore_errors=True)
        root.chmod(0o755)
        for name in ("outside", "work", "library", "home"):
            (root / name).mkdir()
        mark = f"tr{secrets.token_hex(6)}"
        listeners = {name: stack.enter_context(each) for name, each in _listeners(root, mark).items()}
        ours, theirs = pty.openpty()
        stack.callback(os.close, ours)
        stack.callback(os.close, theirs)
        os.set_blocking(ours, False)
        _raw(theirs)
        canaries = Canaries(mark, PREFIX + secrets.token_hex(16), root, listeners, (ours, os.ttyname(theirs)))
        canaries.file.write_text(canaries.secret)
        canaries.file.chmod(0o644)
        stack.callback(canaries.clear)
        if victim:
            _start_victim(canaries, stack)
        yield canaries


def _raw(terminal: int) -> None:
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)


def _listeners(root: Path, mark: str) -> dict[str, socket.socket]:
    inet, inet6, unix = socket.AF_INET, socket.AF_INET6, socket.AF_UNIX
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    wanted: list[tuple[str, int, int, Any]] = [
        ("tcp", inet, stream, ("127.0.0.1", 0)),
        ("udp", inet, datagram, ("127.0.0.1", 0)),
        ("dns", inet, datagram, ("127.0.0.1", 0)),
        ("tcp6", inet6, stream, ("::1", 0)),
        ("abstract", unix, stream, f"\0{mark}"),
        ("path", unix, stream, str(root / "outside" / "socket")),
    ]
    opened: dict[str, socket.socket] = {}
    for name, family, kind, address in wanted:
        listener = socket.socket(family, kind)
        try:
            listener.bind(address)
        except OSError:
            listener.close()
            continue
        if kind == stream:
            listener.listen()
        listener.setblocking(False)
        opened[name] = listener
    (root / "outside" / "socket").chmod(0o777)
    return opened


def _start_victim(canaries: Canaries, stack: contextlib.ExitStack) -> None:
    command = [sys.executable, "-I", "-S", "-c", VICTIM, str(canaries.root / "unlinked")]
    victim = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"TREADLE_KEY": canaries.secret}
    )
    canaries.victim = stack.enter_context(victim)
    stack.callback(victim.kill)
    assert victim.stdin
    assert victim.stdout
    victim.stdin.write(canaries.secret + "\n")
    victim.stdin.flush()
    canaries.address = int(victim.stdout.readline())
