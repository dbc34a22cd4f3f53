"""The difference between two commits as a patch that is text byte for byte."""

from __future__ import annotations

import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from treadle.errors import ProviderError
from treadle.workspaces.base import Change, ChangedFile
from treadle.workspaces.git import ATTRIBUTES, Git, make_git_directory, quoted
from treadle.workspaces.tree import beside

_KINDS: dict[str, Change] = {"A": "added", "D": "deleted", "R": "renamed"}
_NONE = b"0" * 40
_SHORT = 7
"""Digits of a blob's name that git shows at least."""
_MOVED_LINK = re.compile(rb":120000 120000 [0-9a-f]+ [0-9a-f]+ R")
_HEADER = re.compile(rb"^diff --git ", re.MULTILINE)
_BLOBS = re.compile(rb"^index ([0-9a-f]+)\.\.([0-9a-f]+)", re.MULTILINE)
_LISTED = ("--raw", "--numstat", "-z", "--abbrev=40")
_SHOWN = ("--binary", "--src-prefix=a/", "--dst-prefix=b/", "-p")
_ALL_BINARY = b"* -diff\n"

Blobs = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class _Row:
    """A changed file.

    Attributes:
        file: What a patch says of it.
        sections: The names of the blobs that it has in each of its sections.
    """

    file: ChangedFile
    sections: tuple[Blobs, ...]


async def difference(git: Git, before: str, after: str) -> tuple[bytes, tuple[ChangedFile, ...], bytes]:
    """A patch that leads from a commit to another, what it changes, and the patch to be read where it is another.

    Files whose differences are no UTF-8 stand in it as binary, each where that is enough, else all of them; what is to
    be read has their lines as they are.

    Args:
        git: The repository that holds both; what is asked of it leaves nothing behind.
        before: The one.
        after: The other.

    Raises:
        ProviderError: Git failed.
    """
    content, rows = await _read(git, before, after)
    if not _is_text(content):
        before, after = (await git.output("rev-parse", before, after)).decode().split()
        marks = await beside(lambda _: _no_text(content, rows))
        # Git passes over lines of attributes that are too long, as those of very long paths are.
        for attributes in (b"".join(sorted(marks)), _ALL_BINARY):
            with tempfile.TemporaryDirectory(dir=git.directory) as aside:
                view = Path(aside) / "view.git"
                make_git_directory(view, objects=git.directory / "objects", attributes=ATTRIBUTES + attributes)
                told, told_rows = await _read(Git(view), before, after)
            if _is_text(told):
                return told, tuple(row.file for row in told_rows), content
        raise ProviderError("git gives no patch that is text")
    return content, tuple(row.file for row in rows), b""


async def _read(git: Git, before: str, after: str) -> tuple[bytes, list[_Row]]:
    renames = ("-M", "-l2000")
    listed = await _compared(git, before, after, *renames, *_LISTED)
    if _MOVED_LINK.search(listed):
        # What `git apply` reads of a moved link lacks its mode, so it refuses new files below the link's old name.
        renames = ("--no-renames",)
        listed = await _compared(git, before, after, *renames, *_LISTED)
    rows = list(_rows(listed.split(b"\0")[:-1]))
    plain = all(_is_utf8(path) for row in rows for path in (row.file.path, row.file.before))
    quoting = replace(git, settings={"core.quotePath": "false" if plain else "true"})
    return await _compared(quoting, before, after, *renames, *_SHOWN), rows


async def _compared(git: Git, before: str, after: str, *how: str) -> bytes:
    return await git.output("diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--no-color", *how, before, after)


def _no_text(content: bytes, rows: list[_Row]) -> set[bytes]:
    """Attributes that have git take those files for binary whose sections are no text."""
    known: dict[Blobs, list[ChangedFile]] = defaultdict(list)
    for row in rows:
        for blobs in row.sections:
            known[_short(*blobs)].append(row.file)
    lines: set[bytes] = set()
    for part in _HEADER.split(content)[1:]:
        if not _is_text(part) and (blobs := _BLOBS.search(part)):
            found = known.get(_short(blobs[1], blobs[2]), ())
            lines |= {_attribute(path) for each in found for path in (each.path, each.before) if path}
    return lines


def _short(before: bytes, after: bytes) -> Blobs:
    return before[:_SHORT], after[:_SHORT]


def _attribute(path: str) -> bytes:
    escaped = re.sub(rb"[\\*?\[]", rb"\\\g<0>", os.fsencode(path))
    return quoted(b"/" + escaped) + b" -diff\n"


def _rows(parts: list[bytes]) -> Iterator[_Row]:
    """Raw lines first, then the counts of the same files in the same order."""
    words = iter(parts)
    raw: list[tuple[Change, str, str, tuple[Blobs, ...]]] = []
    counts: list[bytes] = []
    for part in words:
        if part.startswith(b":"):
            old, new, before, after, status = part[1:].split(b" ")
            kind = status[:1].decode()
            earlier = os.fsdecode(next(words)) if kind == "R" else ""
            change = _KINDS.get(kind, "modified")
            if kind == "M" and old != new and before == after:
                change = "mode"
            # A file that becomes a link, or the other way round, is taken away first and then made.
            sections = ((before, _NONE), (_NONE, after)) if kind == "T" else ((before, after),)
            raw.append((change, os.fsdecode(next(words)), earlier, sections))
        else:
            counts.append(part)
            _skip(words, 0 if part.split(b"\t", 2)[2] else 2)
    for (change, path, earlier, sections), counted in zip(raw, counts, strict=True):
        added, removed, _ = counted.split(b"\t", 2)
        binary = added == b"-"
        lines = (0, 0) if binary else (int(added), int(removed))
        yield _Row(ChangedFile(path, change, earlier, binary, *lines), sections)


def _skip(words: Iterator[bytes], number: int) -> None:
    for _ in range(number):
        next(words)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
