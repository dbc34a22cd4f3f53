"""What a person names on a command line as what a worker works in."""

from __future__ import annotations

import codecs
import contextlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from treadle.errors import UserError
from treadle.sandbox.base import Surroundings
from treadle.sandbox.interpreters import readable_for
from treadle.sandbox.places import fault_of_surroundings
from treadle.workspaces.base import Repository
from treadle.workspaces.originals import named_by, words_of

_REPLACED = "\N{REPLACEMENT CHARACTER}"
_MOST_REPLACED = 0.3
"""The share of characters that are none above which a file is taken for no text."""
ISSUE_BYTES = 16 * 2**20
"""The largest issue that is read; of a long one models are shown beginning and end."""


def named_repository(repository: Repository) -> Repository:
    """A repository by its real name, with the interpreters that its commands name readable.

    A command that begins with ``/x/venv/bin/python`` needs that environment and its interpreter: executables outside
    of the repository that its words name, and environments, are shown to it, read-only. Nothing else that a word names
    is: a word may as well be a folder to search, or where output goes.

    Args:
        repository: As it was named.

    Raises:
        UserError: There is no such folder, something cannot be readable, or a command names the repository's folder by
            a name under which no copy is seen.
    """
    path = Path(os.path.realpath(repository.path.expanduser()))
    if not path.is_dir():
        what = "is a file" if path.is_file() else "does not exist"
        raise UserError(f"--repo {repository.path} {what}; name the folder of a repository")
    for each in repository.readable:
        if fault := fault_of_surroundings(Surroundings(readable=(each,))):
            raise UserError(f"--readable: {fault}")
    place = repository.place or path
    named = [word for command in (repository.setup, repository.test) for word in _paths(command, place)]
    if other := next((word for word in named if _is_other_name(word, path)), None):
        raise UserError(f"a command names the repository by {other}; commands see the copy at {place}: name it so")
    found = (each for word in named for each in _needed(word, (path, place)) if not _is_own(each, (path, place)))
    return replace(repository, path=path, readable=tuple(dict.fromkeys((*repository.readable, *found))))


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
    coding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    text = content.decode(coding, errors="replace").replace("\0", _REPLACED)
    if not text.strip():
        raise UserError(f"{where} is empty; write there what is wrong and what is wanted")
    if text.count(_REPLACED) > len(text) * _MOST_REPLACED:
        raise UserError(f"{where} is no text; write there what is wrong and what is wanted, in UTF-8")
    return text


def _paths(command: str, place: Path) -> list[Path]:
    """What the words of a command name outside of the copy that it runs in."""
    found: list[Path] = []
    for word in words_of(command):
        name = named_by(word)
        if "/" not in name:
            continue
        path = Path(os.path.normpath(place / os.path.expanduser(name)))  # noqa: PTH111  there may be no such user
        with contextlib.suppress(OSError, ValueError):
            if path.exists() and not path.is_relative_to(place):
                found.append(path)
    return found


def _is_other_name(path: Path, repository: Path) -> bool:
    """Whether a path lies in the repository itself; an executable elsewhere may be a link to one in there."""
    around = Path(os.path.realpath(path if path.is_dir() else path.parent))
    return around.is_relative_to(repository)


def _needed(word: Path, closed: Iterable[Path]) -> tuple[Path, ...]:
    """What has to be readable for a path that a command names."""
    with contextlib.suppress(OSError):
        if word.is_file() and os.access(word, os.X_OK):
            return readable_for(word, closed)
        root = next((each for each in (word, *word.parents) if (each / "pyvenv.cfg").is_file()), None)
        if root is not None:
            return readable_for(root / "bin/python", closed)
    return ()


def _is_own(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path is the repository's own, which the copy stands for, or the sandbox's own."""
    names = (path, Path(os.path.realpath(path)))
    inside = any(name.is_relative_to(folder) for name in names for folder in folders)
    return inside or bool(fault_of_surroundings(Surroundings(readable=(path,))))
