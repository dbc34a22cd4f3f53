"""Reading the difference between a working tree and its start, whatever its worker did to it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from treadle.errors import ProviderError
from treadle.workspaces import rules
from treadle.workspaces.base import Change, ChangedFile, LeftOut, Patch
from treadle.workspaces.copying import same_file
from treadle.workspaces.git import ATTRIBUTES, Git, quoted
from treadle.workspaces.snapshot import START, commit
from treadle.workspaces.tree import Entry, Tree, below, beside, no_git, scan

_NUMBERS = count()
_KINDS: dict[str, Change] = {"A": "added", "D": "deleted", "R": "renamed"}
_EMPTY = "0" * 40
_MOVED_LINK = re.compile(rb":120000 120000 [0-9a-f]+ [0-9a-f]+ R")
_HEADER = re.compile(rb"^diff --git ", re.MULTILINE)
_NONE_IGNORED = 1
"""What ``git check-ignore`` exits with where nothing is ignored."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a working tree was before its worker came.

    Attributes:
        git: The repository that holds it as a commit; no worker ever sees it.
        clean: An untouched copy of the whole tree.
        original: The folder that all copies come from.
        tracked: The files that a patch may change.
        foreign: Folders that belong to other repositories.
        environments: Folders that are environments.
        keep_tests: Whether test files belong to a patch.
    """

    git: Git
    clean: Path
    original: Path
    tracked: frozenset[str]
    foreign: frozenset[str]
    environments: frozenset[str]
    keep_tests: bool


@dataclass(slots=True)
class _Changes:
    """What became of a tree."""

    files: dict[str, Entry] = field(default_factory=dict[str, Entry])
    gone: list[str] = field(default_factory=list[str])
    new: dict[str, Entry] = field(default_factory=dict[str, Entry])
    unclear: list[str] = field(default_factory=list[str])
    left_out: dict[str, str] = field(default_factory=dict[str, str])


async def read_patch(start: Start, work: Path, seen: Tree) -> Patch:
    """The difference between a working tree and its start.

    Neither git's own files in the tree nor its attributes are read; only which new files are ignored is decided by
    its ``.gitignore`` files.

    Args:
        start: What it was.
        work: The tree as it is now; nothing changes it meanwhile.
        seen: Its files as they were when it was made.

    Raises:
        ProviderError: Git failed.
    """
    changes = await beside(lambda stop: _changes(start, work, seen, scan(work, no_git, stop=stop)))
    ignored = await _ignored(start.git, work, [*changes.new, *changes.unclear])
    changes.left_out |= {path: rules.UNTRACKED for path in changes.unclear if path not in ignored}
    for path, entry in changes.new.items():
        if path in ignored:
            continue
        if reason := _against_new(start, path, entry):
            changes.left_out[path] = reason
        else:
            changes.files[path] = entry
    content, files = b"", ()
    if changes.files or changes.gone:
        ref = f"refs/treadle/{next(_NUMBERS)}"
        faults = await commit(start.git, work, changes.files, ref=ref, onto=START, gone=changes.gone, message="now")
        changes.left_out |= faults
        content, files = await _difference(start.git, ref)
    left_out = tuple(LeftOut(path, reason) for path, reason in sorted(changes.left_out.items()))
    return Patch(content, files, left_out)


def _changes(start: Start, work: Path, seen: Tree, now: Tree) -> _Changes:
    changes = _Changes(left_out=dict(now.faults))
    environments = start.environments | _made_environments(start, now)
    for path, entry in now.files.items():
        if seen.files.get(path) == entry:
            continue
        if inside := below(path, start.foreign):
            if not same_file(f"{start.clean}/{path}", f"{work}/{path}"):
                changes.left_out[inside] = rules.FOREIGN
        elif inside := below(path, environments):
            changes.left_out[inside] = rules.ENVIRONMENT
        elif path in start.tracked:
            _changed(changes, start, work, path, entry)
        elif path not in seen.files:
            changes.new[path] = entry
        elif not same_file(f"{start.clean}/{path}", f"{work}/{path}"):
            changes.unclear.append(path)
    _note_gone(changes, start, seen, now)
    return changes


def _note_gone(changes: _Changes, start: Start, seen: Tree, now: Tree) -> None:
    hidden = frozenset(now.faults)
    for path in seen.files.keys() - now.files.keys():
        if below(path, hidden) or "" in hidden:
            continue
        if inside := below(path, start.foreign):
            changes.left_out[inside] = rules.FOREIGN
        elif path not in start.tracked:
            changes.unclear.append(path)
        elif reason := rules.reason_against(path, new=False, keep_tests=start.keep_tests):
            changes.left_out[path] = reason
        else:
            changes.gone.append(path)
    changes.gone.sort()


def _changed(changes: _Changes, start: Start, work: Path, path: str, entry: Entry) -> None:
    if same_file(f"{start.clean}/{path}", f"{work}/{path}"):
        return
    reason = rules.reason_against(path, new=False, keep_tests=start.keep_tests)
    if reason or entry.is_large:
        changes.left_out[path] = reason or rules.LARGE_FILE
    elif entry.is_special:
        changes.left_out[path] = rules.SPECIAL
        changes.gone.append(path)
    else:
        changes.files[path] = entry


def _against_new(start: Start, path: str, entry: Entry) -> str:
    if reason := rules.reason_against(path, new=True, keep_tests=start.keep_tests):
        return reason
    if entry.is_special:
        return rules.SPECIAL
    if entry.is_large:
        return rules.LARGE_FILE
    return rules.WITHHELD if os.path.lexists(start.original / path) and not _was_seen(start, path) else ""


def _was_seen(start: Start, path: str) -> bool:
    """Whether something of that name was copied, such as a folder that is a file now."""
    return os.path.lexists(start.clean / path)


def _made_environments(start: Start, now: Tree) -> frozenset[str]:
    made = {path.rpartition("/")[0] for path in now.files if path.rpartition("/")[2] == "pyvenv.cfg"}
    made |= {rules.in_environment(f"{path}/") for path in now.folders if path.endswith("node_modules")}
    return frozenset(each for each in made - {""} if not (start.clean / each).exists())


async def _ignored(git: Git, work: Path, paths: list[str]) -> frozenset[str]:
    if not paths:
        return frozenset()
    # Its paths cannot be declared literal; after "./" nothing in them means anything.
    looking = Git(git.directory, work, env={"GIT_LITERAL_PATHSPECS": "0"})
    stdin = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
    answer = await looking.run("check-ignore", "--no-index", "-z", "--stdin", stdin=stdin)
    if answer.code not in (0, _NONE_IGNORED):
        raise ProviderError(f"git check-ignore failed: {answer.reason}")
    return frozenset(os.fsdecode(each).removeprefix("./") for each in answer.output.split(b"\0")[:-1])


async def _difference(git: Git, ref: str) -> tuple[bytes, tuple[ChangedFile, ...]]:
    renames = ("-M", "-l2000")
    listed = await _compared(git, ref, *renames, "--raw", "--numstat", "-z", "--abbrev=40")
    if _MOVED_LINK.search(listed):
        # What `git apply` reads of a moved link lacks its mode, so it refuses new files below the link's old name.
        renames = ("--no-renames",)
        listed = await _compared(git, ref, *renames, "--raw", "--numstat", "-z", "--abbrev=40")
    files = tuple(_files(listed.split(b"\0")[:-1]))
    plain = all(_is_utf8(path) for each in files for path in (each.path, each.before))
    quoting = Git(git.directory, settings={"core.quotePath": "false" if plain else "true"})
    how = (*renames, "--binary", "--src-prefix=a/", "--dst-prefix=b/", "-p")
    content = await _compared(quoting, ref, *how)
    if not _is_text(content):
        files = tuple(await beside(lambda _: _with_binaries(git, content, files)))
        content = await _compared(quoting, ref, *how)
    return content, files


def _with_binaries(git: Git, content: bytes, files: tuple[ChangedFile, ...]) -> list[ChangedFile]:
    """Have git take those files for binary whose differences are no UTF-8, so that a patch is text byte for byte."""
    told = [*files]
    lines = [ATTRIBUTES]
    for place, part in enumerate(_HEADER.split(content)[1:]):
        if not _is_text(part):
            told[place] = replace(files[place], binary=True, added=0, removed=0)
            lines += [_attribute(path) for path in (files[place].path, files[place].before) if path]
    (git.directory / "info/attributes").write_bytes(b"".join(lines))
    return told


def _attribute(path: str) -> bytes:
    escaped = re.sub(rb"[\\*?\[]", rb"\\\g<0>", os.fsencode(path))
    return quoted(b"/" + escaped) + b" -diff\n"


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


async def _compared(git: Git, ref: str, *how: str) -> bytes:
    return await git.output("diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--no-color", *how, START, ref)


def _files(parts: list[bytes]) -> Iterator[ChangedFile]:
    """Raw lines first, then the counts of the same files in the same order."""
    words = iter(parts)
    raw: list[tuple[Change, str, str]] = []
    counts: list[bytes] = []
    for part in words:
        if part.startswith(b":"):
            old, new, old_sha, new_sha, status = part[1:].decode().split(" ")
            before = os.fsdecode(next(words)) if status[0] == "R" else ""
            moded = old != new and old_sha == new_sha != _EMPTY and status[0] == "M"
            raw.append(("mode" if moded else _KINDS.get(status[0], "modified"), os.fsdecode(next(words)), before))
        else:
            counts.append(part)
            _skip(words, 0 if part.split(b"\t", 2)[2] else 2)
    for (change, path, before), counted in zip(raw, counts, strict=True):
        added, removed, _ = counted.split(b"\t", 2)
        binary = added == b"-"
        yield ChangedFile(path, change, before, binary, 0 if binary else int(added), 0 if binary else int(removed))


def _skip(words: Iterator[bytes], number: int) -> None:
    for _ in range(number):
        next(words)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
