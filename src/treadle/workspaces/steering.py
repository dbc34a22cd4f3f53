"""Files that steer a test run without being tests: a patch must not decide by them what its tests say."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
"""Modules that a file of the same name at the top of a tree would stand before."""


def steering_files(folder: Path) -> frozenset[str]:
    """The files of a tree that steer a test run, as paths from its top; no link is followed.

    They are ``conftest.py``, the files that pytest reads its options from, modules that Python imports by itself when
    it starts, what names plugins of installed packages (``*.egg-info``), and at the top of the tree whatever stands
    before a module of the standard library or of pytest.

    Args:
        folder: The top of the tree.
    """
    found: set[str] = set()
    for root, folders, files in os.walk(folder):
        inside = os.path.relpath(root, folder)
        below = "" if inside == "." else f"{inside}/"
        if not below:
            found.update(name for name in (*files, *folders) if _top_module(name) in _SHADOWED)
        folders[:] = [name for name in folders if name != ".git"]
        steers = any(part.endswith(_FOLDERS) for part in below.split("/"))
        found.update(f"{below}{name}" for name in files if steers or name in _NAMES)
        # What is a link may lead to any of them.
        found.update(
            f"{below}{name}" for name in folders if (Path(root) / name).is_symlink() and name.endswith(_FOLDERS)
        )
    return frozenset(found)


def _top_module(name: str) -> str:
    return name.partition(".")[0] if name.endswith((".py", ".so", ".pyc")) or "." not in name else ""
