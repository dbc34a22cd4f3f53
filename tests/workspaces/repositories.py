"""Tiny repositories, and checkouts of them, for the tests of working copies."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from treadle.errors import Caution
from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.testing.sessions import recording_run
from treadle.workspaces.base import Repository
from treadle.workspaces.checkout import Checkout, open_checkout

Files = Mapping[str, bytes | None]
"""Content by path; ``None`` is an empty folder."""
ENV = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_{what}": "t@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    done = subprocess.run(("git", *arguments), cwd=folder, env=ENV, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
    return os.fsdecode(done.stdout)


def write(folder: Path, files: Files) -> None:
    for path, content in files.items():
        at = folder / path
        at.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            at.mkdir(exist_ok=True)
        else:
            at.write_bytes(content)


def repository(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    write(folder, files)
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def picture(folder: Path) -> dict[str, tuple[str, bytes]]:
    """All that git would know of a folder, but git's own files: kind and content by path."""
    seen: dict[str, tuple[str, bytes]] = {}
    for at, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != ".git"]
        links = [each for each in folders if (Path(at) / each).is_symlink()]
        for name in [*names, *links]:
            path = Path(at) / name
            if name == ".git":
                continue
            mode = "link" if path.is_symlink() else "x" if path.stat().st_mode & 0o100 else "-"
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            seen[str(path.relative_to(folder))] = (mode, content)
    return seen


def echo(request: Request) -> str:
    return request.messages[-1].content


@asynccontextmanager
async def running(sandbox: str = "none") -> AsyncGenerator[Run]:
    async with recording_run(echo, sandbox=sandbox) as (run, _):
        with warnings.catch_warnings(category=Caution, action="ignore"):
            await run.sandbox.open()
        yield run


@asynccontextmanager
async def checkout_of(source: Path | Repository, aside: Path, sandbox: str = "none") -> AsyncGenerator[Checkout]:
    given = source if isinstance(source, Repository) else Repository(source)
    async with running(sandbox) as run, open_checkout(given, aside, run) as checkout:
        yield checkout
