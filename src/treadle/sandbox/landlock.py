"""Landlock: what the kernel gives where no namespace can be made, such as in a container without privileges."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from treadle.sandbox.base import Traits
from treadle.sandbox.layout import DEVICES, Layout
from treadle.sandbox.linux import LinuxSandbox, Wrapped
from treadle.sandbox.workfolder import remove_folder

_GIT = {"GIT_CONFIG_NOSYSTEM": "1"}
"""The system's settings of git exist and cannot be read, over which git gives up."""


class Landlock(LinuxSandbox):
    """Processes that Landlock keeps from files and seccomp from the network, each with a private folder.

    It has no box: the work sees its own number among all processes, but can neither signal nor look at others.
    """

    name = "landlock"
    warm = False

    @property
    def traits(self) -> Traits:
        """Everything but other places for folders."""
        return Traits(places=False)

    def wrapped(self, launch: Sequence[str], plan: dict[str, Any], layout: Layout, opened: ExitStack) -> Wrapped:
        """The inside's own command line: its plan says what stays within reach."""
        private = Path(tempfile.mkdtemp(prefix="treadle-"))
        opened.callback(remove_folder, private)
        private.chmod(0o755)
        folders = {name: private / name for name in ("work", "home", "tmp")}
        for folder in folders.values():
            folder.mkdir()
            if plan["uid"] is not None:
                os.chown(folder, plan["uid"], plan["uid"])
        writable = [str(folder) for folder in folders.values()]
        readable = list(layout.readable)
        if plan["binds"]:
            ((path, _, may_write),) = plan["binds"]
            (writable if may_write else readable).append(path)
            plan["folder"] = path
        else:
            plan["folder"] = str(folders["work"])
        program = folders["work" if not plan["binds"] else "home"] / "program.py"
        plan |= {
            "program": str(program),
            "outer": "none",
            "alone": False,
            "private": False,
            "binds": [],
            "place": None,
            "scratch": [str(private)],
            "network": plan["network"] if plan["network"] == "host" else "pairs",
            "env": {**plan["env"], "HOME": str(folders["home"]), "TMPDIR": str(folders["tmp"]), **_GIT},
            "landlock": {"readable": readable, "writable": [*writable, *(f"/dev/{name}" for name in DEVICES)]},
        }
        return Wrapped(launch)

    def end(self, outside: subprocess.Popen[bytes]) -> None:
        """Tell the supervisor, which kills everything below it."""
        outside.terminate()
