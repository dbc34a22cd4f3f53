"""Reading the difference between a working tree and its start, whatever its worker did to it."""

from __future__ import annotations

import errno
import os
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from treadle.workspaces import rules
from treadle.workspaces.base import LeftOut, Patch
from treadle.workspaces.copying import same_file
from treadle.workspaces.difference import difference
from treadle.workspaces.git import Git
from treadle.workspaces.ignored import ignored
from treadle.workspaces.snapshot import START, commit
from treadle.workspaces.tree import LARGE, Entry, Stop, StoppedError, Tree, below, beside, no_git, parents, scan

MOST_BYTES = LARGE
"""What the new contents of a patch's files take together at most."""
_NUMBERS = count()


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
    now = await beside(lambda stop: scan(work, no_git, stop=stop))
    changes = await beside(lambda stop: _changes(start, work, seen, now, stop))
    unwanted = await ignored(start.git, work, now, [*changes.new, *changes.unclear])
    changes.left_out |= {path: rules.UNTRACKED for path in changes.unclear if path not in unwanted}
    kept = frozenset(seen.files.keys() - now.files.keys() - set(changes.gone))
    around = {folder for path in kept for folder in parents(path)}
    # Below a link that leads to itself `git apply` makes nothing, even where it removes the link.
    kept |= {path for path in changes.gone if seen.files[path].is_link and _is_loop(start.clean / path)}
    for path, entry in changes.new.items():
        if path in unwanted:
            continue
        if reason := _against_new(start, path, entry):
            changes.left_out[path] = reason
        elif path in around or below(path, kept):
            changes.left_out[path] = rules.IN_THE_WAY
        else:
            changes.files[path] = entry
    await beside(lambda stop: _bound(changes, start, work, seen, stop))
    content, files, readable = b"", (), b""
    if changes.files or changes.gone:
        ref = f"refs/treadle/{next(_NUMBERS)}"
        faults = await commit(start.git, work, changes.files, ref=ref, onto=START, gone=changes.gone, message="now")
        changes.left_out |= faults
        content, files, readable = await difference(start.git, START, ref)
    left_out = tuple(LeftOut(path, reason) for path, reason in sorted(changes.left_out.items()))
    return Patch(content, files, left_out, readable)


def _changes(start: Start, work: Path, seen: Tree, now: Tree, stop: Stop) -> _Changes:
    changes = _Changes(left_out=dict(now.faults))
    environments = start.environments | _environments(start, seen, now)
    for path, entry in now.files.items():
        if seen.files.get(path) == entry:
            continue
        if stop.is_set():
            raise StoppedError
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
    _note_gone(changes, start, seen, now, environments)
    return changes


def _note_gone(changes: _Changes, start: Start, seen: Tree, now: Tree, environments: frozenset[str]) -> None:
    hidden = frozenset(now.faults)
    for path in seen.files.keys() - now.files.keys():
        if below(path, hidden) or "" in hidden:
            continue
        if inside := below(path, start.foreign):
            changes.left_out[inside] = rules.FOREIGN
        elif inside := below(path, environments):
            changes.left_out[inside] = rules.ENVIRONMENT
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


def _is_loop(link: Path) -> bool:
    try:
        link.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _was_seen(start: Start, path: str) -> bool:
    """Whether something of that name was copied, such as a folder that is a file now."""
    return os.path.lexists(start.clean / path)


def _environments(start: Start, seen: Tree, now: Tree) -> frozenset[str]:
    """Folders that are environments, whoever made them; none that holds what a patch may change."""
    made: set[str] = set()
    for tree in (seen, now):
        made |= {path.rpartition("/")[0] for path in tree.files if path.rpartition("/")[2] == "pyvenv.cfg"}
        made |= {rules.in_environment(f"{path}/") for path in tree.folders if path.endswith("node_modules")}
    made.discard("")
    return frozenset(made - {folder for path in start.tracked for folder in parents(path)} if made else made)


def _bound(changes: _Changes, start: Start, work: Path, seen: Tree, stop: Stop) -> None:
    """Leave out files where all together are too much: new ones first, of those the largest; moved ones count none."""
    if sum(entry.size for entry in changes.files.values()) <= MOST_BYTES:
        return
    gone: defaultdict[int, list[str]] = defaultdict(list)
    for path in changes.gone:
        gone[seen.files[path].size].append(path)
    taken = 0
    for path, entry in sorted(changes.files.items(), key=lambda each: (each[0] not in start.tracked, each[1].size)):
        if stop.is_set():
            raise StoppedError
        if any(same_file(f"{start.clean}/{each}", f"{work}/{path}") for each in gone[entry.size]):
            continue
        taken += entry.size
        if taken > MOST_BYTES:
            changes.left_out[path] = rules.TOO_MUCH
            del changes.files[path]
