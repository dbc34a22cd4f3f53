"""What has to be readable so that an interpreter of this machine runs inside a sandbox."""

from __future__ import annotations

import os
from pathlib import Path

from treadle.sandbox.layout import SYSTEM, system_layout

_SETTINGS = "pyvenv.cfg"
_MOST_LINKS = 40


def readable_for(path: Path) -> tuple[Path, ...]:
    """The folders and files that an executable needs besides the system, for `Surroundings.readable`.

    A virtual environment: its root and the prefix of the interpreter that it was made from, with every prefix that the
    links between them go through. An interpreter by itself: its prefix. Another executable: the file, and what it is a
    link to. Nothing of what a sandbox shows anyway.

    Args:
        path: The executable.
    """
    path = Path(os.path.normpath(Path.cwd() / path))
    needed: list[Path] = []
    for link in _followed(path):
        needed += _prefixes(link)
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
        return [root] if home is None else [root, *_of_folder(home), *_of_folder(Path(os.path.realpath(home)))]
    if _is_interpreter(executable):
        return _of_folder(executable.parent)
    return [executable]


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
