"""What a folder is and what of it is copied, found out without writing to it or running anything it names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from treadle.errors import UserError
from treadle.workspaces import rules
from treadle.workspaces.git import Git
from treadle.workspaces.git_folder import GitFolder, find_git_folder, private_view, repository_around
from treadle.workspaces.tree import Tree, below, no_git, parents, scan

_OWN = ".treadle"
_GITLINK = b"160000"


@dataclass(frozen=True, slots=True)
class Contents:
    """What of a folder is copied.

    Attributes:
        tree: Its files and folders.
        tracked: The files that a patch may change.
        foreign: Folders that belong to other repositories.
        environments: Folders that are not copied and may be read where they are.
        excludes: Lines of ignored paths besides those of the tree's own ``.gitignore`` files.
        remarks: What is special about it, in words.
    """

    tree: Tree
    tracked: frozenset[str]
    foreign: frozenset[str]
    environments: frozenset[str]
    excludes: bytes
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Listing:
    """What git says about a working tree."""

    tracked: frozenset[str] = frozenset()
    untracked: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()
    changed: int | None = 0


async def inspect(path: Path, aside: Path) -> Contents:
    """Find out what of a folder is copied.

    Args:
        path: The folder.
        aside: A folder of ours for what is needed meanwhile; nothing below it is copied.

    Raises:
        UserError: There is no such folder, it is a bare repository, or its git directory is damaged.
        ProviderError: Git failed.
    """
    source = _source(path)
    if source is None:
        return _plain(path, aside)
    git = await private_view(source, path, aside / "view.git")
    return _versioned(path, aside, source, await _listing(git, source), (git.directory / "info/exclude").read_bytes())


def _source(path: Path) -> GitFolder | None:
    if not path.is_dir():
        raise UserError(f"{path} is {'no folder' if path.exists() else 'not there'}: name a repository's folder")
    return find_git_folder(path)


async def uncommitted(git: Git) -> int | None:
    """How many tracked files differ from the commit that is checked out; ``None`` where git cannot tell."""
    answer = await git.run("status", "--porcelain", "-z", "-uno", "--ignore-submodules=all", "--no-renames")
    return None if answer.code else answer.output.count(b"\0")


async def _listing(git: Git, source: GitFolder) -> _Listing:
    staged = await git.run("ls-files", "-s", "-z")
    if staged.code:
        raise UserError(f"the index of {git.tree} cannot be read ({staged.reason}): try `git status` there")
    tracked: set[str] = set()
    foreign: set[str] = set()
    for each in staged.output.split(b"\0")[:-1]:
        mode, name = each.split(b"\t", 1)
        (foreign if mode.startswith(_GITLINK) else tracked).add(os.fsdecode(name))
    untracked = await _others(git)
    nested = frozenset(each.rstrip("/") for each in untracked if each.endswith("/"))
    return _Listing(
        tracked=frozenset(tracked),
        untracked=untracked - {f"{each}/" for each in nested},
        ignored=frozenset(each.rstrip("/") for each in await _others(git, "--ignored", "--directory")),
        foreign=frozenset(foreign) | nested,
        changed=await uncommitted(git) if source.head else 0,
    )


async def _others(git: Git, *which: str) -> frozenset[str]:
    output = await git.output("ls-files", "--others", "--exclude-standard", "-z", *which)
    return frozenset(os.fsdecode(each) for each in output.split(b"\0")[:-1])


def _versioned(path: Path, aside: Path, source: GitFolder, listing: _Listing, excludes: bytes) -> Contents:
    shared = frozenset(folder for each in listing.tracked for folder in parents(each))
    environments = _environments(path, listing.untracked | listing.ignored) - {""} - shared
    installed = frozenset(each for each in listing.ignored if rules.is_installed_as(each))
    closed = (listing.ignored | environments) - installed
    keys = frozenset(each for each in listing.untracked if rules.is_key(each))
    seen = scan(path, _Outside(path, aside, closed), ours=False)
    wanted = listing.tracked | (listing.untracked - keys)
    files = {
        each: entry
        for each, entry in seen.files.items()
        if each in wanted or _comes_along(each, listing.foreign, installed)
        if not below(each, environments)
    }
    tracked = listing.tracked
    remarks = [_head_remark(source)]
    if not source.head:
        tracked = wanted
    if listing.changed is None:
        remarks.append("git cannot tell whether tracked files have uncommitted changes; the patch builds on them")
    elif listing.changed:
        remarks.append(f"{_count(listing.changed, 'tracked file')} with uncommitted changes, which the patch builds on")
    if untracked := len(files.keys() & (listing.untracked - tracked)):
        remarks.append(f"{_count(untracked, 'untracked file')} copied too, and no part of a patch")
    if listing.foreign:
        names = names_of(listing.foreign)
        remarks.append(f"other repositories inside: {names}; their files are copied and no part of a patch")
    return _contents(
        Tree(files, seen.folders, seen.faults), tracked, listing.foreign, environments, excludes, remarks, keys
    )


def _plain(path: Path, aside: Path) -> Contents:
    remarks = ["no git repository: the patch is what differs from the folder as it is now"]
    if around := repository_around(path.resolve()):
        remarks.append(f"the folder lies inside the repository {around}, of which nothing else is copied")
    seen = scan(path, _Outside(path, aside, frozenset(), litter=True), ours=False)
    environments = _environments(path, frozenset(seen.files)) - {""}
    nested = frozenset(each for each in seen.folders if (path / each / ".git").exists())
    keys = frozenset(each for each in seen.files if rules.is_key(each))
    files = {
        each: entry
        for each, entry in seen.files.items()
        if each not in keys and not _is_left(each) and not below(each, environments)
    }
    tracked = frozenset(each for each in files if not below(each, nested))
    if nested:
        remarks.append(f"repositories inside: {names_of(nested)}; their files are copied and no part of a patch")
    return _contents(Tree(files, seen.folders, seen.faults), tracked, nested, environments, b"", remarks, keys)


def _contents(
    seen: Tree,
    tracked: frozenset[str],
    foreign: frozenset[str],
    environments: frozenset[str],
    excludes: bytes,
    remarks: list[str],
    keys: frozenset[str],
) -> Contents:
    large = frozenset(each for each, entry in seen.files.items() if entry.is_large)
    special = frozenset(each for each, entry in seen.files.items() if entry.is_special)
    if keys:
        remarks.append(f"not copied, for they may hold keys: {names_of(keys)}")
    if large:
        remarks.append(f"larger than 64 MiB, copied, and no part of a patch: {names_of(large)}")
    if special:
        remarks.append(f"not copied, for they are neither files nor links: {names_of(special)}")
    if seen.faults:
        remarks.append(f"not copied, for they cannot be read: {names_of(frozenset(seen.faults))}")
    files = {each: entry for each, entry in seen.files.items() if each not in special}
    folders = {each: mode for each, mode in seen.folders.items() if not below(each, environments)}
    ours = frozenset(each for each in tracked if each in files and not rules.is_git_name(each)) - large
    return Contents(Tree(files, folders), ours, foreign, environments, excludes, tuple(remarks))


@dataclass(frozen=True, slots=True)
class _Outside:
    """Which paths of a user's folder are looked at: not git's, Treadle's own, or what is known to be left out."""

    top: Path
    aside: Path
    closed: frozenset[str]
    litter: bool = False

    def __call__(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        if not no_git(path) or name == _OWN or path in self.closed:
            return False
        if self.litter and (
            name in (".hg", ".svn") or (rules.is_litter_folder(name) and not rules.is_installed_as(name))
        ):
            return False
        return self.top / path != self.aside


def _environments(top: Path, paths: frozenset[str]) -> frozenset[str]:
    """The folders among these, or around these, that are environments."""
    named = {rules.in_environment(f"{each}/") for each in paths}
    # A link of that name may lead anywhere, and what it leads to is shown to nobody.
    found = {each for each in named if (top / each).is_dir() and not (top / each).is_symlink()}
    found |= {each.rpartition("/")[0] for each in paths if each.rpartition("/")[2] == "pyvenv.cfg"}
    for each in paths:
        folder = top / each
        if folder.is_dir() and not folder.is_symlink() and (folder / "pyvenv.cfg").is_file():
            found.add(each)
    return frozenset(found)


def _is_left(path: str) -> bool:
    """Whether a plain folder's file is what tools left, and no editable install."""
    return rules.is_litter(path) and not any(rules.is_installed_as(each) for each in path.split("/"))


def _comes_along(path: str, foreign: frozenset[str], installed: frozenset[str]) -> bool:
    """Whether a file that git does not list is copied."""
    if below(path, installed):
        return True
    return bool(below(path, foreign)) and not rules.is_key(path) and not rules.is_litter(path)


def _head_remark(source: GitFolder) -> str:
    if not source.head:
        return "a repository without a commit: every file that is not ignored counts as tracked"
    where = f"branch {source.branch}" if source.branch else "a detached HEAD"
    return f"repository at commit {source.head[:12]} ({where})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def names_of(paths: frozenset[str]) -> str:
    """Paths in words, of many only the first."""
    shown = sorted(repr(each)[1:-1] for each in paths)
    more = f" and {len(shown) - 5} more" if len(shown) > 6 else ""
    return ", ".join(shown[:5] if more else shown) + more
