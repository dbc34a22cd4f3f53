"""What the sandboxes that Linux itself makes have in common: warm cells for programs, a fresh box for the rest."""

from __future__ import annotations

import itertools
import os
import platform
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from treadle.errors import SandboxError
from treadle.sandbox.base import (
    DEFAULT_LIMITS,
    NO_SURROUNDINGS,
    Command,
    ExecResult,
    Limits,
    Program,
    Surroundings,
    Traits,
)
from treadle.sandbox.layout import GUEST, Layout, system_layout
from treadle.sandbox.plans import Streams, all_files, fault_of, packed, plan_for, program_path, result_of
from treadle.sandbox.pool import Pool, end_box
from treadle.sandbox.process import Ended, run_process

_FIRST_USER, _USERS = 1_900_000_000, 64
_GRACE_S = 2.0
_SLOTS = itertools.count()
Files = Mapping[str, bytes]


class LinuxSandbox(ABC):
    """A sandbox whose inside is set up by ``guest/launch.py``.

    Args:
        width: Programs at one time; the number of processors, at least 2, where it is not given.
    """

    name: str
    warm: bool = True
    """Whether a box can hold cells, which needs namespaces inside of it."""

    def __init__(self, *, width: int | None = None) -> None:
        self._pool = Pool(self._spawn, width or max(2, os.cpu_count() or 1))

    @property
    def identity(self) -> str:
        """Kind and interpreter, with their versions."""
        return f"{self.name}, {platform.python_implementation()} {platform.python_version()}"

    @property
    def traits(self) -> Traits:
        """Everything."""
        return Traits()

    @abstractmethod
    def wrapped(self, launch: Sequence[str], plan: dict[str, Any], layout: Layout, opened: ExitStack) -> Wrapped:
        """The command line that starts a box, and what it inherits.

        Args:
            launch: What starts the inside, without its plan.
            plan: What the inside is told; what only the kind knows is added.
            layout: The files that it may show.
            opened: Closes descriptors once the box has them.
        """

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = {},
        stdin: bytes = b"",
        limits: Limits = DEFAULT_LIMITS,
        surroundings: Surroundings = NO_SURROUNDINGS,
    ) -> ExecResult:
        """Run a piece of work to its end; see `treadle.sandbox.base.Sandbox`."""
        fault = fault_of(work, files, surroundings)
        if fault:
            return ExecResult("refused", reason=fault)
        try:
            if self.warm and isinstance(work, Program) and surroundings == NO_SURROUNDINGS:
                layout = system_layout(os.geteuid())
                return await self._pool.run(
                    lambda slot: plan_for(work, layout, limits, surroundings, user=spare_user(slot)),
                    packed(all_files(work, files, program_path(surroundings))),
                    stdin,
                    limits,
                )
            return await self._alone(work, files, stdin, limits, surroundings)
        except SandboxError as error:
            return ExecResult("refused", reason=str(error))

    async def _alone(
        self, work: Program | Command, files: Files, stdin: bytes, limits: Limits, surroundings: Surroundings
    ) -> ExecResult:
        """Run a piece of work in a box of its own."""
        layout = system_layout(os.geteuid())
        plan = plan_for(work, layout, limits, surroundings, user=spare_user(next(_SLOTS) % _USERS))
        if surroundings.folder is not None and plan["uid"] is not None:
            owner = surroundings.folder.stat().st_uid
            plan |= {"uid": owner} if owner else {"owner": owner}
        with ExitStack() as opened:
            told, tell = os.pipe()
            plan |= {"report": tell, "payload": sealed(b"", opened)}
            wrapped = self.wrapped(launching(layout), plan, _with(layout, surroundings), opened)
            fill(plan["payload"], packed(all_files(work, files, plan["program"])))
            ended = await run_process(
                [*wrapped, msgspec.json.encode(plan).decode()],
                env={},
                stdin=stdin,
                limits=replace(limits, seconds=limits.seconds + _GRACE_S),
                pass_fds=(plan["payload"], *wrapped.inherited),
                report=(told, tell),
                kill=self.end,
            )
        report = ended.report if ended.report and not ended.flooded else _instead(ended)
        return result_of(report, Streams(ended.stdout, ended.stderr, ended.truncated), limits)

    def _spawn(self, channel: int, slot: int) -> subprocess.Popen[bytes]:
        layout = system_layout(os.geteuid())
        plan = plan_for(Program(""), layout, DEFAULT_LIMITS, NO_SURROUNDINGS, user=spare_user(slot))
        plan |= {"serve": channel, "private": False}
        with ExitStack() as opened:
            wrapped = self.wrapped(launching(layout), plan, layout, opened)
            return subprocess.Popen(
                [*wrapped, msgspec.json.encode(plan).decode()],
                env={"PYTHONHASHSEED": "0"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(channel, *wrapped.inherited),
                start_new_session=True,
            )

    def end(self, outside: subprocess.Popen[bytes]) -> None:
        """End work in a box of its own from outside, with everything that it started."""
        end_box(outside)

    async def aclose(self) -> None:
        """End the cells; may be called twice."""
        self._pool.close()


class Wrapped(tuple[str, ...]):
    """A command line with the descriptors that its process inherits."""

    inherited: tuple[int, ...] = ()


def _instead(ended: Ended) -> bytes:
    """The report of work whose supervisor was ended from here."""
    cause = "flood" if ended.flooded else "seconds" if ended.timed_out else "lost"
    return msgspec.json.encode({"cause": cause, "why": ended.stderr, "seconds": ended.seconds})


def launching(layout: Layout) -> list[str]:
    """What starts the inside, without its plan: the interpreter with its packages, and nothing of the environment."""
    return [layout.interpreter, "-s", "-B", "-X", "utf8", str(GUEST / "launch.py")]


def spare_user(slot: int) -> int | None:
    """A user number that nobody else has, for the work in a slot; ``None`` without the privilege to become it.

    Process limits bind per user and never for root: work needs a number of its own.
    """
    if os.geteuid() != 0:
        return None
    known = _mapped_users()
    first = _FIRST_USER if known > _FIRST_USER else known - 2 * _USERS
    return first + (os.getpid() * _USERS + slot) % (min(known, 2**31) - first - _USERS)


def _mapped_users() -> int:
    try:
        rows = Path("/proc/self/uid_map").read_text().split("\n")
    except OSError:
        return 2**16
    return max((int(row.split()[0]) + int(row.split()[2]) for row in rows if row.strip()), default=2**16)


def sealed(content: bytes, opened: ExitStack) -> int:
    """A descriptor to read some bytes from, open as long as ``opened`` is."""
    descriptor = os.memfd_create("treadle")
    opened.callback(os.close, descriptor)
    fill(descriptor, content)
    return descriptor


def fill(descriptor: int, content: bytes) -> None:
    """Put bytes where a descriptor of `sealed` reads them from."""
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)


def _with(layout: Layout, surroundings: Surroundings) -> Layout:
    extra = tuple(str(path) for path in surroundings.readable)
    return replace(layout, readable=(*layout.readable, *extra)) if extra else layout
