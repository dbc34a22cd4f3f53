"""The sandbox of a session: opened when it is first needed, and never busier than the machine allows."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace

from treadle.config import SandboxSettings
from treadle.errors import Caution, ProviderError, TreadleError, UserError
from treadle.sandbox.base import MIB, Command, ExecResult, Limits, Program, Sandbox, Surroundings, Traits

NO_FILES: Mapping[str, bytes] = {}
ALONE = Surroundings()
_LEAST_WIDTH = 2
_UNPROTECTED = (
    "programs run unprotected (sandbox {name}): they can do whatever you can; `treadle doctor` says what isolates here"
)
_NOT_OPEN = (
    "the sandbox is not open yet, so nobody knows its name, identity and traits: write `await run.sandbox.open()` "
    "before you ask, or ask after the first `await run.sandbox.execute(...)`"
)


def limits_of(settings: SandboxSettings) -> Limits:
    """What a program may take where nothing else is said."""
    return Limits(settings.seconds, memory=settings.memory_mb * MIB, processes=settings.processes)


class SharedSandbox:
    """A `Sandbox` that everything in a session shares.

    More programs at once than there are cores would run into their time limits because of each other, so they take
    turns; waiting for one is no part of a program's time.

    Args:
        given: A kind of sandbox, or a sandbox, which stays its owner's to close.
        limits: What a program may take where nothing else is said.
        width: Programs at once; by default the cores, at least two.

    Attributes:
        limits: As given.
        trusted: Whether it was seen to tell good programs from bad ones.
    """

    def __init__(self, given: str | Sandbox, limits: Limits, width: int | None = None) -> None:
        self.limits = limits
        self.trusted = False
        self._given = given
        self._sandbox = None if isinstance(given, str) else given
        self._opening = asyncio.Lock()
        self._turns = asyncio.Semaphore(width or max(_LEAST_WIDTH, _cores()))

    @property
    def kind(self) -> str:
        """What was asked for, such as ``auto``."""
        return self._given if isinstance(self._given, str) else self._given.name

    @property
    def name(self) -> str:
        """The kind's name."""
        return self._known().name

    @property
    def identity(self) -> str:
        """What results are remembered by: the sandbox's own words, and the packages that programs can import."""
        from treadle.sandbox.layout import packages_digest

        return f"{self._known().identity}, packages {packages_digest()}"

    @property
    def traits(self) -> Traits:
        """What it can do."""
        return self._known().traits

    async def open(self) -> Sandbox:
        """The sandbox itself, opened by whoever needs it first.

        Raises:
            SandboxError: Nothing here isolates, or the kind that was asked for does not work here.
        """
        if self._sandbox is None:
            async with self._opening:
                if self._sandbox is None:
                    self._sandbox = await _opened(self.kind)
                    if not self._sandbox.traits.isolated:
                        warnings.warn(_UNPROTECTED.format(name=self._sandbox.name), Caution, stacklevel=2)
        return self._sandbox

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = NO_FILES,
        stdin: bytes = b"",
        limits: Limits | None = None,
        surroundings: Surroundings = ALONE,
        started: Callable[[], None] | None = None,
        title: str | None = None,
    ) -> ExecResult:
        """Run a piece of work to its end, when its turn has come.

        Args:
            work: What to run.
            files: Files put into the work folder first.
            stdin: What it can read.
            limits: What it may take; the session's limits where nothing is said.
            surroundings: What it may see of this machine.
            started: Called when its turn has come.
            title: What a trace would call it; there is none here.

        Raises:
            SandboxError: As `open`.
            ProviderError: The sandbox itself failed.
        """
        del title
        sandbox = await self.open()
        async with self._turns:
            if started is not None:
                started()
            loop = asyncio.get_running_loop()
            begun = loop.time()
            try:
                result = await sandbox.execute(
                    work, files=files, stdin=stdin, limits=limits or self.limits, surroundings=surroundings
                )
            except TreadleError:
                raise
            except Exception as error:
                raise ProviderError(f"the sandbox {sandbox.name} failed: {error!r}") from error
            return result if result.seconds else replace(result, seconds=round(loop.time() - begun, 6))

    async def aclose(self) -> None:
        """Close what was opened here."""
        if isinstance(self._given, str) and self._sandbox is not None:
            await self._sandbox.aclose()

    def _known(self) -> Sandbox:
        if self._sandbox is None:
            raise UserError(_NOT_OPEN)
        return self._sandbox


async def _opened(kind: str) -> Sandbox:
    from treadle.sandbox.choose import open_sandbox

    return await open_sandbox(kind)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
