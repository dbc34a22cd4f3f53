"""What has to be readable so that an interpreter of this machine runs inside a sandbox."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from treadle.sandbox.layout import SYSTEM, system_layout

_SETTINGS = "pyvenv.cfg"
_MOST_LINKS = 40
_LIBRARIES = ("python3*", "pypy3*", "libpython*", "libpypy*")
_PARTS = (_SETTINGS, "bin", *(f"{folder}/{name}" for folder in ("lib", "lib64") for name in _LIBRARIES))
"""What an interpreter has below its prefix, where that is a folder of other things too."""


def readable_for(path: Path, closed: Iterable[Path] = ()) -> tuple[Path, ...]:
    """The folders and files that an executable needs besides the system, for `Surroundings.readable`.

    A virtual environment: its root and the prefix of the interpreter that it was made from, with every prefix that the
    links between them go through. An interpreter by itself: its prefix. Another executable: the file, and what it is a
    link to. Nothing of what a sandbox shows anyway, and no folder that the user's home or one of ``closed`` lies in: of
    such a prefix only the interpreter's own parts.

    Args:
        path: The executable.
        closed: Folders that must not be shown with what lies around them.
    """
    named = (os.path.expanduser("~"), *map(os.path.abspath, closed))  # noqa: PTH100, PTH111  there may be no home
    inner = [Path(each) for name in named for each in (name, os.path.realpath(name))]
    path = Path(os.path.normpath(Path.cwd() / path))
    needed = [part for link in _followed(path) for each in _prefixes(link) for part in _apart(each, inner)]
    shown = [*map(Path, SYSTEM), *map(Path, system_layout(os.geteuid()).readable)]
    outer: list[Path] = []
    for each in sorted(dict.fromkeys(needed), key=lambda each: len(each.parts)):
        if each.exists() and not any(each.is_relative_to(other) for other in (*shown, *outer)):
            outer.append(each)
    return tuple(outer)


def _followed(path: Path) -> list[Path]:
    """An executable and every link that it is reached by."""
    chain = [path]
    while path.is_symlink() and len(chain) < _MOST_LINKS:
        path = Path(os.path.normpath(path.parent / path.readlink()))
        chain.append(path)
    return list(dict.fromkeys((*chain, Path(os.path.realpath(path)))))


def _prefixes(executable: Path) -> list[Path]:
    root = executable.parent.parent
    if (root / _SETTINGS).is_file():
        home = _home(root / _SETTINGS)
        return [root] if home is None else [root, *_of_home(home), *_of_home(Path(os.path.realpath(home)))]
    if _is_interpreter(executable):
        return _of_folder(executable.parent)
    return [executable]


def _apart(path: Path, inner: list[Path]) -> list[Path]:
    """A path, or its parts where it is a folder that one of the others lies in."""
    if not _contains(path, inner):
        return [path]
    parts = [part for name in _PARTS for part in path.glob(name)]
    return [part for part in parts if not _contains(part, inner)]


def _contains(path: Path, inner: list[Path]) -> bool:
    names = (path, Path(os.path.realpath(path)))
    return any(each.is_relative_to(name) for each in inner for name in names)


def _of_home(home: Path) -> list[Path]:
    """The prefix that a virtual environment names; nothing where no interpreter is in it."""
    return _of_folder(home) if any(home.glob("python3*")) or any(home.glob("pypy3*")) else []


def _of_folder(folder: Path) -> list[Path]:
    """The prefix of a folder of executables; the folder itself where it is none of a prefix."""
    root = folder.parent
    return [root] if _has_library(root) else [folder]


def _is_interpreter(executable: Path) -> bool:
    return executable.name.startswith(("python", "pypy")) and _has_library(executable.parent.parent)


def _has_library(root: Path) -> bool:
    return root != Path("/") and any(any((root / "lib").glob(name)) for name in ("python3*", "pypy3*"))


def _home(settings: Path) -> Path | None:
    """Where the interpreter lies that a virtual environment was made from."""
    try:
        lines = settings.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for line in lines:
        name, _, value = line.partition("=")
        if name.strip() == "home" and Path(value.strip()).is_absolute():
            return Path(value.strip())
    return None
