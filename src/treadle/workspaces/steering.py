"""Files that steer a test run without being tests: a patch must not decide by them what its tests say."""

from __future__ import annotations

import os
import sys
from collections.abc import Set
from itertools import pairwise
from pathlib import Path

from treadle.workspaces.originals import words_of

_NAMES = frozenset(
    {
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "tox.ini",
        "setup.cfg",
        "pyproject.toml",
        "sitecustomize.py",
        "usercustomize.py",
    }
)
_FOLDERS = (".egg-info", ".dist-info")
_SHADOWED = frozenset(
    {*sys.stdlib_module_names, "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "py", "tomli"}
)
"""Modules that a file of the same name would stand before, where it is found first."""
_TOP = frozenset({""})


def steering_files(folder: Path, first: Set[str] = _TOP) -> frozenset[str]:
    """The files of a tree that steer a test run, as paths from its top; no link is followed.

    They are ``conftest.py``, the files that pytest reads its options from, modules that Python imports by itself when
    it starts, what names plugins of installed packages (``*.egg-info``), and where modules are looked for first
    whatever stands before one of the standard library or of pytest.

    Args:
        folder: The top of the tree.
        first: Folders of it that modules are looked for in first, as `first_folders` gives them.
    """
    found: set[str] = set()
    for root, folders, files in os.walk(folder):
        inside = os.path.relpath(root, folder)
        below = "" if inside == "." else f"{inside}/"
        if below.rstrip("/") in first:
            found.update(f"{below}{name}" for name in (*files, *folders) if _top_module(name) in _SHADOWED)
        folders[:] = [name for name in folders if name != ".git"]
        steers = any(part.endswith(_FOLDERS) for part in below.split("/"))
        found.update(f"{below}{name}" for name in files if steers or name in _NAMES)
        # What is a link may lead to any of them.
        found.update(
            f"{below}{name}" for name in folders if (Path(root) / name).is_symlink() and name.endswith(_FOLDERS)
        )
    return frozenset(found)


def first_folders(command: str, place: Path) -> frozenset[str]:
    """The folders of a tree that a shell command's modules are looked for in first, as paths from its top.

    They are the top itself, where the command goes by ``cd``, where a script that it names lies, and what it puts into
    ``PYTHONPATH``.

    Args:
        command: The command.
        place: Where the tree is for it.
    """
    found, now = {place}, place
    for before, word in pairwise(("", *words_of(command))):
        if before in ("cd", "pushd"):
            now = _inside(now, word)
            found |= {now, _inside(place, word)}
        elif word.endswith(".py"):
            found |= {_inside(folder, word).parent for folder in (place, now)}
        elif word.startswith("PYTHONPATH="):
            entries = word.partition("=")[2].split(os.pathsep)
            found |= {_inside(folder, entry) for entry in entries for folder in (place, now)}
    return frozenset(
        "" if each == place else str(each.relative_to(place)) for each in found if each.is_relative_to(place)
    )


def _inside(folder: Path, word: str) -> Path:
    return Path(os.path.normpath(folder / word))


def _top_module(name: str) -> str:
    return name.partition(".")[0] if name.endswith((".py", ".so", ".pyc")) or "." not in name else ""
