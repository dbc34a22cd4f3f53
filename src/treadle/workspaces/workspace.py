"""A working copy as a worker sees it: a folder in which commands run apart from this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from treadle.ledger.run import Run
from treadle.sandbox.base import Command, ExecResult, Limits, Program, Surroundings

ENVIRONMENT: Mapping[str, str] = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "LESS": "-R",
    "PIP_PROGRESS_BAR": "off",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "TQDM_DISABLE": "1",
    "NO_COLOR": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""What keeps commands from waiting for a key, drawing bars or littering the tree."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder of files to work on; nothing outside of it can be changed.

    Attributes:
        folder: The copy on this machine.
        place: Where commands see it, and start.
        limits: What one command may take.
        readable: Further files and folders that commands may read.
        env: Environment variables of commands.
        network: Whether commands may reach the network.
        writable: Whether commands may change it.
    """

    folder: Path
    place: Path
    limits: Limits = field(default_factory=Limits)
    readable: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    network: bool = False
    writable: bool = True

    @property
    def read_only(self) -> Workspace:
        """The same copy for those who may only look; any number of them at once."""
        return replace(self, writable=False)

    async def shell(self, command: str, run: Run, *, seconds: float | None = None) -> ExecResult:
        """Run a shell command in a fresh process; its output comes as one stream.

        Args:
            command: What ``bash`` (where there is none, ``sh``) reads.
            run: Where it is traced.
            seconds: Its wall clock, instead of the usual.

        Raises:
            SandboxError: There is no sandbox.
            ProviderError: The sandbox itself failed.
        """
        work = Command(("/bin/sh", "-c", _WITH_BASH, "sh", command))
        return await self.execute(work, run, seconds=seconds, title=command)

    async def execute(
        self,
        work: Program | Command,
        run: Run,
        *,
        stdin: bytes = b"",
        seconds: float | None = None,
        title: str | None = None,
    ) -> ExecResult:
        """Run a program or a command in the copy.

        Args:
            work: What to run.
            run: Where it is traced.
            stdin: What it can read.
            seconds: Its wall clock, instead of the usual.
            title: What the trace calls it.

        Raises:
            SandboxError: There is no sandbox.
            ProviderError: The sandbox itself failed.
        """
        limits = self.limits if seconds is None else replace(self.limits, seconds=seconds, cpu_seconds=None)
        surroundings = Surroundings(
            self.folder,
            writable=self.writable,
            readable=self.readable,
            env={**ENVIRONMENT, **self.env},
            network=self.network,
            place=self.place,
        )
        return await run.sandbox.execute(work, stdin=stdin, limits=limits, surroundings=surroundings, title=title)


_WITH_BASH = 'exec 2>&1; command -v bash >/dev/null && exec bash -c "$1"; exec sh -c "$1"'
