"""Bubblewrap: a box made by ``bwrap``, from an empty environment, with the rest of the limits set inside of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import PurePath
from typing import Any

from treadle.errors import SandboxError
from treadle.sandbox.layout import DEVICES, Layout
from treadle.sandbox.linux import CAPABILITIES, LinuxSandbox, Wrapped
from treadle.sandbox.sealed import sealed

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
_AS_ROOT = ("CAP_DAC_OVERRIDE", "CAP_FOWNER")


class Bubblewrap(LinuxSandbox):
    """Boxes by bubblewrap.

    Args:
        width: Programs at one time.

    Raises:
        SandboxError: ``bwrap`` is not installed.
    """

    name = "bubblewrap"

    def __init__(self, *, width: int | None = None) -> None:
        path = shutil.which("bwrap")
        if path is None:
            raise SandboxError("bubblewrap is not installed; install the package bubblewrap of your system")
        self._bwrap = path
        super().__init__(width=width)

    @property
    def identity(self) -> str:
        """Kind and interpreter, with their versions."""
        return super().identity.replace(self.name, _version(self._bwrap), 1)

    def wrapped(self, launch: Sequence[str], plan: dict[str, Any], layout: Layout, opened: ExitStack) -> Wrapped:
        """The command line of ``bwrap``."""
        argv = [self._bwrap, *_NAMESPACES, "--die-with-parent", "--as-pid-1", "--hostname", "sandbox"]
        if plan["network"] != "host":
            argv.append("--unshare-net")
        capabilities = CAPABILITIES
        if os.geteuid() == 0:
            capabilities += _AS_ROOT
        else:
            argv.append("--unshare-user")
        argv += ["--cap-drop", "ALL"]
        for capability in capabilities:
            argv += ["--cap-add", capability]
        size = str(plan["limits"]["file_bytes"])
        seen = [f"{plan['place']['at']}/in"] if plan["place"] else []
        argv += ["--proc", "/proc", *_devices()]
        argv += ["--size", size, "--perms", "1777", "--tmpfs", "/tmp"]
        for folder in _folders([*layout.readable, *(path for path, _ in layout.texts), *seen]):
            argv += ["--perms", "0755", "--dir", folder]
        for path in layout.readable:
            argv += ["--ro-bind", path, path]
        for path, target in layout.links:
            argv += ["--symlink", target, path]
        inherited = [sealed(text.encode(), opened) for _, text in layout.texts]
        for (path, _), descriptor in zip(layout.texts, inherited, strict=True):
            argv += ["--perms", "0644", "--ro-bind-data", str(descriptor), path]
        for path, target, writable in plan["binds"]:
            argv += ["--bind" if writable else "--ro-bind", path, target]
        argv += ["--remount-ro", "/", "--chdir", "/", "--"]
        wrapped = Wrapped((*argv, *launch))
        wrapped.inherited = tuple(inherited)
        return wrapped


@cache
def _version(bwrap: str) -> str:
    said = subprocess.run([bwrap, "--version"], capture_output=True, text=True, env={}, check=False)
    return said.stdout.strip() or "bubblewrap"


def _devices() -> list[str]:
    """A ``/dev`` of plain devices; ``--dev`` would nest a user namespace in which cells cannot be made."""
    argv = ["--perms", "0755", "--dir", "/dev", "--perms", "1777", "--dir", "/dev/shm"]
    for name in DEVICES:
        argv += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    return [*argv, "--symlink", "/proc/self/fd", "/dev/fd"]


def _folders(paths: Iterable[str]) -> list[str]:
    """The folders that lead to some paths, outer ones first.

    Left to itself, ``bwrap`` makes them as closed as the originals, and the user that work runs as must pass.
    """
    parents = {str(parent) for path in paths for parent in PurePath(path).parents}
    return sorted(parents - {"/", "/tmp"})
