"""A user's git directory, read as files: git itself never runs on it here."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from treadle.errors import UserError
from treadle.workspaces.git import Git, make_git_directory

_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_HOPS = 5
_MOST_BYTES = 64 * 2**20
"""Of a file of git's that is read here; that of packed references is the longest."""
_PATTERN = re.compile(rb"[^#\0-\x1f\x7f][^\0-\x1f\x7f]{,999}")
_MOST_PATTERNS = 10_000
_HOW_FILES_LIE = {
    f"core.{name}".lower(): f"core.{name}" for name in ("autocrlf", "eol", "fileMode", "ignoreCase", "symlinks")
}
_VALUES = {b"true", b"yes", b"on", b"1", b"false", b"no", b"off", b"0", b"", b"input", b"lf", b"crlf", b"native"}


@dataclass(frozen=True, slots=True)
class GitFolder:
    """Where a working tree keeps its history.

    Attributes:
        directory: What is the working tree's own: its HEAD and its index.
        common: What it shares with other working trees of the repository: objects, branches, excludes.
        head: The commit that is checked out; empty where there is none.
        branch: The branch that is; empty where HEAD is detached.
    """

    directory: Path
    common: Path
    head: str
    branch: str


def find_git_folder(top: Path) -> GitFolder | None:
    """The git directory of a working tree; ``None`` where the folder is the top of none.

    Raises:
        UserError: It is a bare repository, or its ``.git`` leads nowhere.
    """
    named = top / ".git"
    if not named.exists():
        if _is_git_directory(top):
            raise UserError(f"{top} is a bare repository and has no files to work on: git clone it, and name the clone")
        return None
    directory = named
    if named.is_file():
        line = _line(named)
        directory = top / line.removeprefix("gitdir:").strip()
        if not line.startswith("gitdir:") or not directory.is_dir():
            raise UserError(f"{named} names no git directory that is there: `git worktree repair`, or clone it again")
    shared = _line(directory / "commondir")
    common = (directory / shared).resolve() if shared else directory
    if not _is_git_directory(common):
        raise UserError(f"{named} is no git directory: clone the repository again, or remove it to use a plain folder")
    ref, sha = _head(directory, common)
    return GitFolder(directory.resolve(), common.resolve(), sha, ref.removeprefix("refs/heads/"))


def repository_around(folder: Path) -> Path | None:
    """The working tree that a folder lies in without being its top."""
    return next((each for each in folder.parents if (each / ".git").exists()), None)


async def private_view(source: GitFolder, tree: Path, directory: Path) -> Git:
    """A git directory of ours over a user's working tree: a copy of the index and the same objects.

    Of the user's configuration it has only how files lie in the working tree (line endings, modes, links), so that
    what is unchanged for the user's git is so for ours; nothing of that runs anything.

    Args:
        source: The user's.
        tree: The working tree.
        directory: Where ours is made.

    Raises:
        UserError: Its lists of ignored files or attributes are links, which may lead anywhere.
    """
    excludes = _patterns(_own(source.common, "info/exclude"), await _global_excludes())
    sha256 = len(source.head) == 64 or re.search(r"objectformat\s*=\s*sha256", _text(source.common / "config"), re.I)
    make_git_directory(
        directory,
        bare=False,
        head=source.head or "ref: refs/heads/main",
        config="[extensions]\n\tobjectFormat = sha256\n" if sha256 else "",
        excludes=excludes,
        objects=source.common / "objects",
        attributes=_own(source.common, "info/attributes"),
    )
    for each in (source.directory / "index", *source.directory.glob("sharedindex.*")):
        if each.is_file():
            # With its time: git takes files that are no older than the index for changed until it has read them.
            shutil.copy2(each, directory / each.name)
    return Git(directory, tree, settings=await _how_files_lie(source))


async def identity_of(source: GitFolder) -> dict[str, str]:
    """Who the user says to be, as git's environment; Treadle where nobody is named."""
    own = Git(source.directory, personal=True)
    name, email = [
        os.fsdecode((await own.run("config", "--get", key)).output).strip() for key in ("user.name", "user.email")
    ]
    named = {"NAME": name or "Treadle", "EMAIL": email or "treadle@localhost"}
    return {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in named.items()}


async def _how_files_lie(source: GitFolder) -> dict[str, str]:
    asked = ("config", "--show-scope", "-z", "--get-regexp", rf"^({'|'.join(map(re.escape, _HOW_FILES_LIE))})$")
    parts = (await Git(source.directory, personal=True).run(*asked)).output.split(b"\0")
    said: dict[str, str] = {}
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        name, given, value = entry.lower().partition(b"\n")
        if scope != b"command" and value in _VALUES:
            said[_HOW_FILES_LIE[name.decode()]] = value.decode() if given else "true"
    return said


async def _global_excludes() -> bytes:
    """What the user's own configuration ignores everywhere, such as an editor's files."""
    asked = Git(Path("/"), personal=True)
    answer = await asked.run("config", "--global", "--type=path", "--get", "core.excludesFile")
    if not answer.code:
        return _bytes(Path(os.fsdecode(answer.output).rstrip("\n")))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", "/"), ".config")  # noqa: PTH118
    return _bytes(Path(home) / "git/ignore")


def _head(directory: Path, common: Path) -> tuple[str, str]:
    ref, value = "", _line(directory / "HEAD")
    for _ in range(_HOPS):
        if not value.startswith("ref:"):
            break
        ref = value.removeprefix("ref:").strip()
        value = _line(directory / ref) or _line(common / ref) or _packed(common, ref)
    return ref, value if _SHA.fullmatch(value) else ""


def _packed(common: Path, ref: str) -> str:
    lines = (line.split(" ", 1) for line in _text(common / "packed-refs").splitlines())
    return next((parts[0] for parts in lines if len(parts) == 2 and parts[1].strip() == ref), "")


def _is_git_directory(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def _line(path: Path) -> str:
    return _text(path).split("\n", 1)[0].strip()


def _text(path: Path) -> str:
    return os.fsdecode(_bytes(path))


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except (OSError, ValueError):
        return b""


def _own(folder: Path, name: str) -> bytes:
    """A file of a git directory whose content goes elsewhere: no link is followed to it."""
    path = folder / name
    if path.exists() and path.resolve() != path:
        raise UserError(f"{path} is a link, or lies behind one, and is not followed: put a copy in its place")
    return _bytes(path)


def _patterns(*lists: bytes) -> bytes:
    """The patterns of lists of ignored files, without what else stands there."""
    lines = [line for each in lists for line in each.splitlines() if _PATTERN.fullmatch(line)]
    return b"".join(line + b"\n" for line in lines[:_MOST_PATTERNS])
