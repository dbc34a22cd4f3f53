"""A box of namespaces around everything that follows: its own files, processes, network, and names."""

from __future__ import annotations

import os

import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from plan import Plan

_KINDS = kernel.NEWNS | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWPID | kernel.NEWCGROUP
_QUIET = kernel.MS_NOSUID | kernel.MS_NODEV
_DEVICES = ("null", "full", "random", "urandom")
_ROOT = "/tmp"


def enter(plan: Plan) -> None:
    """Continue as the first process inside a new box; this process only waits for it and ends as it does.

    Args:
        plan: ``binds`` (a path, where it is seen, and whether it may be written), ``place``, ``links`` (pairs of a
            path and where it points), ``texts`` (pairs of a path and its content), ``limits.file_bytes``, ``network``.
    """
    _become_root()
    own_network = 0 if plan["network"] == "host" else kernel.NEWNET
    kernel.unshare(_KINDS | own_network)
    first = os.fork()
    if first:
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    kernel.die_with_parent()
    kernel.set_hostname("sandbox")
    if plan["network"] == "loopback":
        kernel.bring_up_loopback()
    _files(plan)


def _become_root() -> None:
    """Without privileges, take those over a user namespace in which this user keeps its number."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        return
    kernel.unshare(kernel.NEWUSER)
    # Its maps belong to root as long as its memory is closed to others of this user.
    kernel.dumpable()
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    kernel.not_dumpable()


def _files(plan: Plan) -> None:
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE, None)
    sources = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path, _, _ in plan["binds"]}
    devices = {name: os.open(f"/dev/{name}", os.O_PATH | os.O_CLOEXEC) for name in _DEVICES}
    # The new root lies over the old /tmp: what is bound was opened before, so that it is found nevertheless.
    kernel.mount("tmpfs", _ROOT, "tmpfs", _QUIET, "mode=755,size=1m")
    for folder in ("proc", "dev", "tmp", "old"):
        os.mkdir(f"{_ROOT}/{folder}")
    size = plan["limits"]["file_bytes"]
    kernel.mount("tmpfs", f"{_ROOT}/tmp", "tmpfs", _QUIET, f"size={size},mode=1777")
    for name, source in devices.items():
        bind(source, f"{_ROOT}/dev/{name}", 0)
    os.mkdir(f"{_ROOT}/dev/shm")
    os.symlink("/proc/self/fd", f"{_ROOT}/dev/fd")
    for path, target in plan["links"]:
        _parents(_ROOT + path)
        os.symlink(target, _ROOT + path)
    for path, text in plan["texts"]:
        _parents(_ROOT + path)
        with open(_ROOT + path, "w") as file:
            file.write(text)
    if plan["place"] is not None:
        os.makedirs(_ROOT + plan["place"]["at"], exist_ok=True)
    for path, target, writable in plan["binds"]:
        bind(sources[path], _ROOT + target, 0 if writable else kernel.MOUNT_ATTR_RDONLY)
    kernel.mount("proc", f"{_ROOT}/proc", "proc", _QUIET | kernel.MS_NOEXEC, None)
    kernel.pivot_root(_ROOT, f"{_ROOT}/old")
    os.chdir("/")
    kernel.unmount("/old", kernel.MNT_DETACH)
    os.rmdir("/old")
    kernel.mount(None, "/", None, kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | _QUIET, None)


def bind(source: int, target: str, attributes: int) -> None:
    """Mount what a descriptor is of at a path, which is made."""
    _parents(target)
    path = f"/proc/self/fd/{source}"
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        open(target, "wb").close()
    kernel.mount(path, target, None, kernel.MS_BIND | kernel.MS_REC, None)
    flags = attributes | kernel.MOUNT_ATTR_NOSUID
    kernel.set_mount_attributes(target, flags)


def _parents(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
