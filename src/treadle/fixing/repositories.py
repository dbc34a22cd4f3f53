"""What a person names on a command line as what a worker works in."""

from __future__ import annotations

import contextlib
import os
import shlex
from dataclasses import replace
from pathlib import Path

from treadle.errors import UserError
from treadle.sandbox.interpreters import readable_for
from treadle.workspaces.base import Repository

ISSUE_BYTES = 16 * 2**20
"""The largest issue that is read; of a long one models are shown beginning and end."""


def named_repository(repository: Repository) -> Repository:
    """A repository whose folder is known to be there, with what its commands name readable.

    A command that begins with ``/x/venv/bin/python`` needs that environment and its interpreter: whatever its words
    name outside of the repository is shown to it, read-only.

    Args:
        repository: As it was named.

    Raises:
        UserError: There is no such folder.
    """
    path = Path(os.path.abspath(repository.path.expanduser()))  # noqa: PTH100  links stay: what is installed names them
    if not path.is_dir():
        what = "is a file" if path.is_file() else "does not exist"
        raise UserError(f"--repo {repository.path} {what}; name the folder of a repository")
    named = [word for command in (repository.setup, repository.test) for word in _paths(command, path)]
    readable = dict.fromkeys((*repository.readable, *(found for word in named for found in readable_for(word))))
    return replace(repository, path=path, readable=tuple(readable))


def read_issue(file: Path) -> str:
    """The text of an issue; bytes that are no UTF-8 are replaced.

    Args:
        file: Where it stands.

    Raises:
        UserError: It cannot be read, is larger than 16 MiB, or says nothing.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(ISSUE_BYTES + 1)
    except OSError as error:
        raise UserError(f"--issue {file} cannot be read: {error.strerror}") from None
    return issue_text(content, f"--issue {file}")


def issue_text(content: bytes, where: str) -> str:
    """The text of an issue from its bytes.

    Args:
        content: As it was read.
        where: What names it, for messages.

    Raises:
        UserError: It is larger than 16 MiB, or says nothing.
    """
    if len(content) > ISSUE_BYTES:
        raise UserError(f"{where} is larger than {ISSUE_BYTES // 2**20} MiB; cut it to what the issue is about")
    text = content.decode("utf-8-sig", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    if not text.strip():
        raise UserError(f"{where} is empty; write there what is wrong and what is wanted")
    return text


def _paths(command: str, repository: Path) -> list[Path]:
    """What the words of a command name outside of the repository."""
    words: list[str] = []
    with contextlib.suppress(ValueError):
        words = shlex.split(command)
    found: list[Path] = []
    for word in words:
        name = word.partition("=")[2] if "=" in word.partition("/")[0] else word
        if "/" not in name:
            continue
        path = Path(os.path.normpath(repository / Path(name).expanduser()))
        with contextlib.suppress(OSError, ValueError):
            if path.exists() and not path.is_relative_to(repository):
                found.append(path)
    return found
