"""Containers by docker or podman: for systems whose kernel offers nothing, macOS first of all."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import os
import re
import secrets
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

import msgspec

from treadle.errors import SandboxError
from treadle.sandbox.base import MIB, Command, ExecResult, Limits, Program, Surroundings, Traits
from treadle.sandbox.layout import GUEST, Layout
from treadle.sandbox.places import views
from treadle.sandbox.plans import SCRATCH, Streams, all_files, fault_of, packed, plan_for, result_of
from treadle.sandbox.process import Ended, run_process, undisturbed

DEFAULT_IMAGE = "python:3.11-slim"

_LABEL = "treadle"
_NAME = re.compile(rf"{_LABEL}-(?P<machine>[0-9a-f]+)-(?P<process>\d+)-[0-9a-f]+")
_START_S = 60.0
_ENGINE_S = 30.0
_REPORT_BYTES = 1024
_NOTHING = Surroundings()
_USUAL = Limits()
_NUMBERS = itertools.count()
_FIRST_USER, _USERS = 20_000, 40_000
_INTERPRETER = ("-s", "-B", "-X", "utf8", "-c")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PASSED_ON = ("PATH", "HOME", "USER", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "SSH_AUTH_SOCK")
_PREFIXES = ("DOCKER_", "CONTAINER_", "CONTAINERS_", "PODMAN_")
_VERSION = {
    "docker": ("version", "--format", "{{.Server.Version}}"),
    "podman": ("info", "--format", "{{.Version.Version}}"),
}
_ROOTLESS = {
    "docker": ("info", "--format", "{{.SecurityOptions}}"),
    "podman": ("info", "--format", "{{.Host.Security.Rootless}}"),
}
_IS_ROOTLESS = re.compile(r"\bname=rootless\b|true")
# Reads from its input what it is to do, for a container may run on another machine than its files are on.
_START = """
import json, os, sys
def take(size):
    parts = []
    while size:
        part = os.read(0, min(size, 1 << 16))
        if not part:
            sys.exit("the container's input ended early")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
asked = json.loads(take(int.from_bytes(take(8), "big")))
os.mkdir("/tmp/guest", 0o700)
for name, text in asked["guest"].items():
    with open("/tmp/guest/" + name, "w", encoding="utf-8") as file:
        file.write(text)
sys.path[0] = "/tmp/guest"
import contained
contained.main(asked["plan"], take(asked["files"]), asked["mark"])
"""


@dataclass(frozen=True, slots=True)
class _Engine:
    version: str
    image: str


class Container:
    """A fresh container for each piece of work: no network, read-only, no capabilities, its input the only way in.

    Its image needs ``python3`` (3.9 or later), which runs programs. It is never fetched here.

    Args:
        engine: The command line that starts containers.
        image: The image.

    Raises:
        SandboxError: There is no such command.
    """

    traits = Traits()

    def __init__(self, engine: Literal["docker", "podman"] = "docker", image: str = DEFAULT_IMAGE) -> None:
        path = shutil.which(engine)
        if path is None or engine not in _VERSION:
            raise SandboxError(f"there is no command {engine}; install it, or name another sandbox")
        self.name = engine
        self.image = image
        self._path = path
        self._engine: _Engine | None = None
        self._rootless: bool | None = None

    @property
    def identity(self) -> str:
        """Engine and image; the image's own number once `prepare` has asked for it."""
        return f"{self.name}, {self._engine.image if self._engine else self.image}"

    async def prepare(self) -> None:
        """See whether the engine answers and has the image; remove what a killed process left behind.

        Raises:
            SandboxError: It does not answer, or has no such image.
        """
        if self._engine is not None:
            return
        said = await self._ask(*_VERSION[self.name])
        if said.exit_code != 0:
            why = said.stderr.strip() or "no reason given"
            raise SandboxError(f"no {self.name} engine answers: {why}; start it, or name another sandbox")
        image = await self._ask("image", "inspect", "--format", "{{.Id}}", self.image)
        if image.exit_code != 0:
            raise SandboxError(f"{self.name} has no image {self.image}; fetch it with `{self.name} pull {self.image}`")
        await self._remove_leftovers()
        self._engine = _Engine(said.stdout.strip(), f"{self.image} {image.stdout.strip()}")

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
        try:
            await self.prepare()
            await self._check_owner(surroundings)
            return await self._run(work, files, stdin, limits, surroundings)
        except SandboxError as error:
            return ExecResult("refused", reason=str(error))

    async def aclose(self) -> None:
        """Nothing is kept ready."""

    async def _run(
        self,
        work: Program | Command,
        files: Mapping[str, bytes],
        stdin: bytes,
        limits: Limits,
        surroundings: Surroundings,
    ) -> ExecResult:
        mark = f"\n{secrets.token_hex(16)}"
        name = f"{_LABEL}-{_machine()}-{os.getpid()}-{secrets.token_hex(6)}"
        told = False
        try:
            ended = await run_process(
                [self._path, "run", *_flags(self.name, name, limits, surroundings), self.image, *_INTERPRETER, _START],
                env=_environment(),
                stdin=_input(work, files, limits, surroundings, mark) + stdin,
                limits=replace(limits, seconds=limits.seconds + _START_S),
                stderr_bytes=limits.output_bytes + _REPORT_BYTES,
            )
            told = ended.exit_code == 0 and ended.stderr.count(mark) > 1
        finally:
            if not told:
                with contextlib.suppress(SandboxError):
                    await undisturbed(self._ask("rm", "--force", name))
        stderr = ended.stderr.partition(mark)[2] if mark in ended.stderr else ended.stderr
        stderr, _, report = stderr.rpartition(mark) if told else (stderr, "", _instead(ended))
        return result_of(report.encode(), Streams(ended.stdout, stderr, ended.truncated), limits)

    async def _check_owner(self, surroundings: Surroundings) -> None:
        """Refuse work that would be root of this machine: it runs as the owner of its folder, to write there."""
        folder = surroundings.folder
        if folder is None or folder.stat().st_uid != 0:
            return
        if self._rootless is None:
            told = await self._ask(*_ROOTLESS[self.name])
            self._rootless = _IS_ROOTLESS.search(told.stdout) is not None
        if not self._rootless:
            raise SandboxError(
                f"{folder} is root's, so {self.name} would run its work as root of this machine: start Treadle as "
                f"another user, use a rootless {self.name}, or name another sandbox"
            )

    async def _remove_leftovers(self) -> None:
        listed = await self._ask("ps", "--all", "--filter", f"label={_LABEL}", "--format", "{{.Names}}")
        here = _machine()
        for name in listed.stdout.split():
            owner = _NAME.fullmatch(name)
            if owner and owner["machine"] == here and not _is_alive(int(owner["process"])):
                await self._ask("rm", "--force", name)

    async def _ask(self, *words: str) -> Ended:
        return await run_process([self._path, *words], env=_environment(), limits=Limits(seconds=_ENGINE_S))


def _flags(engine: str, name: str, limits: Limits, surroundings: Surroundings) -> list[str]:
    user = _FIRST_USER + (os.getpid() * 64 + next(_NUMBERS)) % _USERS
    if surroundings.folder is not None:
        user = surroundings.folder.stat().st_uid
    shown = views(surroundings)
    memory = 2 * limits.memory + 256 * MIB
    flags = {
        "name": name,
        "label": f"{_LABEL}={name}",
        "pull": "never",
        "user": f"{user}:{user}",
        "cap-drop": "ALL",
        "security-opt": "no-new-privileges",
        "tmpfs": f"{SCRATCH}:rw,exec,nosuid,nodev,size={limits.file_bytes},mode=1777",
        "shm-size": str(min(limits.file_bytes, limits.memory)),
        "pids-limit": str(limits.processes + 8),
        "memory": str(memory),
        "memory-swap": str(memory),
        "cpus": "1",
        "workdir": "/",
        "hostname": "sandbox",
        "entrypoint": "python3",
    }
    if not surroundings.network:
        flags["network"] = "none"
    if engine == "podman" and surroundings.folder is not None and os.geteuid() != 0:
        flags["userns"] = "keep-id"
    words = ["--rm", "--interactive", "--read-only", *(f"--{flag}={value}" for flag, value in flags.items())]
    if surroundings.folder is not None:
        words += _mount(str(surroundings.folder), shown.at, writable=surroundings.writable)
    for path in (*shown.apart, *shown.on_top):
        words += _mount(path, path, writable=False)
    return words


def _mount(source: str, target: str, *, writable: bool) -> list[str]:
    row = io.StringIO()
    fields = ["type=bind", f"source={source}", f"target={target}", *(() if writable else ("readonly",))]
    csv.writer(row, lineterminator="\n").writerow(fields)
    return ["--mount", row.getvalue().removesuffix("\n")]


def _input(
    work: Program | Command, files: Mapping[str, bytes], limits: Limits, surroundings: Surroundings, mark: str
) -> bytes:
    layout = Layout((), (), (), "python3", _PATH)
    plan: dict[str, Any] = plan_for(work, layout, limits, surroundings, user=None) | {"private": False, "place": None}
    content = packed(all_files(work, files, plan["program"]))
    guest = {path.name: path.read_text(encoding="utf-8") for path in GUEST.glob("*.py")}
    asked = msgspec.json.encode({"guest": guest, "plan": plan, "files": len(content), "mark": mark})
    return len(asked).to_bytes(8, "big") + asked + content


def _instead(ended: Ended) -> str:
    """The report of work whose container was ended before it could tell."""
    if ended.timed_out:
        cause, why = "seconds", ""
    elif ended.flooded:
        cause, why = "flood", ""
    elif ended.exit_code == 128 + 9:
        cause, why = "memory", ""
    else:
        cause, why = "refused", f"the container could not be started: {ended.stderr.strip() or 'no reason given'}"
    return msgspec.json.encode({"cause": cause, "why": why, "seconds": ended.seconds}).decode()


def _environment() -> dict[str, str]:
    """What the command line needs to find its engine; none of it reaches a container."""
    return {name: value for name, value in os.environ.items() if name in _PASSED_ON or name.startswith(_PREFIXES)}


def _machine() -> str:
    return sha256(socket.gethostname().encode()).hexdigest()[:8]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
