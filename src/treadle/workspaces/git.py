"""Git on this machine, run so that nothing it finds in a repository can change what it does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from treadle.errors import ProviderError, UserError
from treadle.sandbox.process import undisturbed

ATTRIBUTES = b"* -text -crlf !eol !diff -filter -ident -working-tree-encoding\n"
"""What keeps git from converting anything, whatever a tree's own attributes ask for."""
_SECONDS = 300.0
_SETTINGS = {
    "advice.detachedHead": "false",
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.compression": "1",
    "core.eol": "lf",
    "core.excludesFile": os.devnull,
    "core.fileMode": "true",
    "core.fsmonitor": "false",
    "core.fsync": "none",
    "core.hooksPath": os.devnull,
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "core.safecrlf": "false",
    "core.symlinks": "true",
    "core.untrackedCache": "false",
    "core.useReplaceRefs": "false",
    "fastimport.unpackLimit": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "pack.compression": "1",
    "protocol.allow": "never",
    "safe.directory": "*",
}
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a git command came to."""

    code: int
    output: bytes
    errors: str

    @property
    def reason(self) -> str:
        """Why it failed, in git's words on one line."""
        lines = [line.removeprefix("error: ").removeprefix("fatal: ") for line in self.errors.splitlines()]
        return "; ".join(line for line in lines if line.strip()) or f"exit code {self.code}"


@dataclass(frozen=True, slots=True)
class Git:
    """Git with a git directory that is named, and none that it looks for.

    Attributes:
        directory: The git directory.
        tree: The working tree, for commands that need one.
        index: The index, where it is not the directory's.
        settings: Further configuration.
        env: Further environment.
        personal: Whether the user's own configuration is read too, for what only the user can say.
    """

    directory: Path
    tree: Path | None = None
    index: Path | None = None
    settings: dict[str, str] = field(default_factory=dict[str, str])
    env: dict[str, str] = field(default_factory=dict[str, str])
    personal: bool = False

    async def run(self, *arguments: str, stdin: bytes | BinaryIO = b"", seconds: float = _SECONDS) -> Answer:
        """Run a command to its end; it is killed when the caller is cancelled.

        Args:
            arguments: The command and its arguments.
            stdin: What it reads.
            seconds: Its wall clock.

        Raises:
            UserError: Git is not installed.
            ProviderError: It did not end in time.
        """
        settings = [
            part for name, value in {**_SETTINGS, **self.settings}.items() for part in ("-c", f"{name}={value}")
        ]
        process = await asyncio.create_subprocess_exec(
            git_program(),
            *settings,
            *arguments,
            stdin=asyncio.subprocess.PIPE if isinstance(stdin, bytes) else stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.tree or self.directory,
            env=self._environment(),
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(seconds):
                output, errors = await process.communicate(stdin if isinstance(stdin, bytes) else None)
        except TimeoutError as error:
            raise ProviderError(f"git {arguments[0]} did not end within {seconds:g} s") from error
        finally:
            await undisturbed(_ended(process))
        return Answer(process.returncode or 0, output, errors.decode(errors="replace"))

    async def output(self, *arguments: str, stdin: bytes | BinaryIO = b"") -> bytes:
        """What a command writes.

        Raises:
            UserError: Git is not installed.
            ProviderError: It failed.
        """
        answer = await self.run(*arguments, stdin=stdin)
        if answer.code:
            raise ProviderError(f"git {arguments[0]} failed: {answer.reason}")
        return answer.output

    def _environment(self) -> dict[str, str]:
        named = {"GIT_DIR": self.directory, "GIT_WORK_TREE": self.tree, "GIT_INDEX_FILE": self.index}
        paths = {name: str(path) for name, path in named.items() if path is not None}
        env = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT, **paths, **self.env}
        if self.personal:
            del env["GIT_CONFIG_GLOBAL"], env["GIT_CONFIG_NOSYSTEM"]
            env |= {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
        return env


def git_program() -> str:
    """The git that is installed.

    Raises:
        UserError: There is none.
    """
    program = shutil.which("git")
    if program is None:
        raise UserError("git is not installed here, and working copies need it: install it, or put it on the PATH")
    return program


def make_git_directory(
    directory: Path,
    *,
    bare: bool = True,
    head: str = "ref: refs/heads/main",
    config: str = "",
    excludes: bytes = b"",
    objects: Path | None = None,
    attributes: bytes = ATTRIBUTES,
) -> None:
    """Write an empty git directory, without hooks, remotes or anything of this machine's configuration.

    Args:
        directory: Where; it must not be there.
        bare: Whether it has no working tree of its own.
        head: What HEAD is.
        config: Lines after the first section.
        excludes: What ``info/exclude`` holds.
        objects: Where further objects are looked for.
        attributes: What ``info/attributes`` holds.
    """
    for name in ("objects/info", "objects/pack", "refs/heads", "info"):
        (directory / name).mkdir(parents=True)
    version = "1" if "[extensions]" in config else "0"
    core = f"[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = {str(bare).lower()}\n"
    (directory / "config").write_text(core + config)
    (directory / "HEAD").write_text(head + "\n")
    (directory / "info/exclude").write_bytes(excludes)
    (directory / "info/attributes").write_bytes(attributes)
    if objects is not None:
        (directory / "objects/info/alternates").write_bytes(quoted(os.fsencode(objects)) + b"\n")


def quoted(path: bytes) -> bytes:
    """A path as git reads it between double quotes."""
    plain = b"".join(bytes([byte]) if 32 <= byte < 127 and byte not in b'"\\' else b"\\%03o" % byte for byte in path)
    return b'"' + plain + b'"'


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # What it wrote meanwhile is read to its end, for its pipes have to be closed.
    await process.communicate()
