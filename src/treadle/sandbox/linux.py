"""What the sandboxes that Linux itself makes have in common: warm cells for programs, a fresh box for the rest."""

from __future__ import annotations

import os
import platform
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import msgspec

from treadle.errors import SandboxError
from treadle.sandbox import bundle
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
from treadle.sandbox.cells import end_box
from treadle.sandbox.layout import GUEST, Layout, system_layout, with_network
from treadle.sandbox.places import views
from treadle.sandbox.plans import Streams, all_files, fault_of, packed, plan_for, program_path, result_of
from treadle.sandbox.pool import Pool
from treadle.sandbox.process import Ended, run_process
from treadle.sandbox.sealed import empty, fill
from treadle.sandbox.users import slot, spare_user

_GRACE_S = 2.0
# What the inside needs to make cells and to become another user; it drops them all before work starts.
CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_CHOWN", "CAP_KILL", "CAP_SYS_PTRACE")
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
        fault = fault_of(work, files, surroundings, limits)
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
            with slot() as taken:
                return await self._alone(work, files, stdin, limits, surroundings, spare_user(taken))
        except (SandboxError, OSError) as error:
            return ExecResult("refused", reason=str(error))

    async def _alone(
        self,
        work: Program | Command,
        files: Files,
        stdin: bytes,
        limits: Limits,
        surroundings: Surroundings,
        user: int | None,
    ) -> ExecResult:
        """Run a piece of work in a box of its own."""
        layout = system_layout(os.geteuid())
        plan = plan_for(work, layout, limits, surroundings, user=user)
        if surroundings.folder is not None and user is not None:
            owner = surroundings.folder.stat().st_uid
            plan |= {"uid": owner} if owner else {"owner": owner}
        with ExitStack() as opened:
            told, tell = os.pipe()
            begun = opened.enter_context(ExitStack())
            for descriptor in (told, tell):
                begun.callback(os.close, descriptor)
            plan |= {"report": tell, "payload": empty(opened)}
            launch = launching(layout, packages=isinstance(work, Program))
            wrapped = self.wrapped(launch, plan, _with(layout, surroundings), opened)
            fill(plan["payload"], framed(plan) + packed(all_files(work, files, plan["program"])))
            begun.pop_all()
            ended = await run_process(
                [*wrapped, str(plan["payload"])],
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
        with ExitStack() as opened:
            plan |= {"serve": channel, "private": False, "payload": empty(opened), "ready": bundle.ready()}
            wrapped = self.wrapped(launching(layout), plan, layout, opened)
            fill(plan["payload"], framed(plan))
            return subprocess.Popen(
                [*wrapped, str(plan["payload"])],
                env={"PYTHONHASHSEED": "0"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(channel, plan["payload"], *wrapped.inherited),
                start_new_session=True,
            )

    def end(self, outside: subprocess.Popen[bytes]) -> None:
        """End work in a box of its own from outside, with everything that it started."""
        end_box(outside)

    async def aclose(self) -> None:
        """End the cells; may be called twice."""
        await self._pool.aclose()


class Wrapped(tuple[str, ...]):
    """A command line with the descriptors that its process inherits."""

    inherited: tuple[int, ...] = ()


def _instead(ended: Ended) -> bytes:
    """The report of work whose supervisor was ended from here."""
    cause = "flood" if ended.flooded else "seconds" if ended.timed_out else "lost"
    return msgspec.json.encode({"cause": cause, "why": ended.stderr, "seconds": ended.seconds})


def launching(layout: Layout, *, packages: bool = True) -> list[str]:
    """What starts the inside, without its plan: the interpreter, and nothing of the environment.

    Args:
        layout: Names the interpreter.
        packages: Whether it finds its packages, which programs need and which takes time.
    """
    return [layout.interpreter, "-s", *(() if packages else ("-S",)), "-B", "-X", "utf8", str(GUEST / "launch.py")]


def framed(plan: dict[str, Any]) -> bytes:
    """A plan as the inside reads it: its length (8 bytes) and its JSON.

    On a command line every user of the machine could read it.
    """
    words = msgspec.json.encode(plan)
    return len(words).to_bytes(8, "big") + words


def _with(layout: Layout, surroundings: Surroundings) -> Layout:
    shown = views(surroundings)
    extra = (*shown.apart, *shown.on_top)
    wider = replace(layout, readable=(*layout.readable, *extra)) if extra else layout
    return with_network(wider) if surroundings.network else wider
