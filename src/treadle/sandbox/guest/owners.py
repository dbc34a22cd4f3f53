"""Showing a folder elsewhere, and its files as another user's, on disk as they were: an idmapped mount."""

from __future__ import annotations

import ctypes
import os
import struct

import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from plan import Place

_OPEN_TREE, _MOVE_MOUNT, _OPENAT2, _MOUNT_SETATTR = 428, 429, 437, 442
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_CLONE, _CLOEXEC, _FROM_DESCRIPTOR, _TO_DESCRIPTOR = 1, 0o2000000, 0x4, 0x40
_NO_SYMLINKS, _BENEATH = 0x4, 0x8
_IDMAP = 0x00100000
_ATTRIBUTES = struct.Struct("=QQQQ")
_HOW = struct.Struct("=QQQ")


def show(place: Place, owner: int | None, user: int | None) -> None:
    """Move a work folder to where it shall be seen, and what is readable below that on top of it.

    Earlier work may have made anything of the folder: no link in it is followed.

    Args:
        place: From where to where.
        owner: Who owns its files on disk, where they are to belong to another there, which needs root; else ``None``.
        user: Who owns them there; what that user writes is the owner's on disk.

    Raises:
        OSError: The kernel (before 5.12) or the file system cannot, or there is nothing to mount upon.
    """
    at, staged = place["at"], place["staged"]
    tops = [(path, _tree(path)) for path in place["on_top"]]
    tree = _tree(staged)
    if owner is not None and user is not None:
        _map(tree, owner, user)
    os.makedirs(at, exist_ok=True)
    _move(tree, os.open(at, os.O_PATH | os.O_CLOEXEC))
    kernel.unmount(staged)
    os.rmdir(staged)
    folder = os.open(at, os.O_PATH | os.O_CLOEXEC)
    for path, top in tops:
        _move(top, _beneath(folder, os.path.relpath(path, at)))
    os.close(folder)


def _tree(path: str) -> int:
    """A descriptor of a new mount of what is at a path, with what is mounted below."""
    named = ctypes.create_string_buffer(os.fsencode(path))
    flags = _CLONE | _CLOEXEC | _AT_RECURSIVE
    return kernel.system_call(f"open_tree({path})", _OPEN_TREE, _AT_FDCWD, ctypes.addressof(named), flags)


def _move(tree: int, target: int) -> None:
    nothing = ctypes.addressof(empty := ctypes.create_string_buffer(b""))
    kernel.system_call("move_mount", _MOVE_MOUNT, tree, nothing, target, nothing, _FROM_DESCRIPTOR | _TO_DESCRIPTOR)
    del empty
    os.close(tree)
    os.close(target)


def _beneath(folder: int, path: str) -> int:
    named = ctypes.create_string_buffer(os.fsencode(path))
    how = ctypes.create_string_buffer(_HOW.pack(os.O_PATH | os.O_CLOEXEC, 0, _NO_SYMLINKS | _BENEATH), _HOW.size)
    places = ctypes.addressof(named), ctypes.addressof(how), _HOW.size
    return kernel.system_call(f"openat2({path})", _OPENAT2, folder, *places)


def _map(tree: int, owner: int, user: int) -> None:
    nothing = ctypes.create_string_buffer(b"")
    mapping = _user_namespace(owner, user)
    wanted = ctypes.create_string_buffer(_ATTRIBUTES.pack(_IDMAP, 0, 0, mapping), _ATTRIBUTES.size)
    places = ctypes.addressof(nothing), _AT_EMPTY_PATH | _AT_RECURSIVE, ctypes.addressof(wanted), _ATTRIBUTES.size
    kernel.system_call("mount_setattr", _MOUNT_SETATTR, tree, *places)
    os.close(mapping)


def _user_namespace(inside: int, outside: int) -> int:
    """A descriptor of a user namespace that has one user."""
    made, tell = os.pipe()
    hold, release = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(release)
            kernel.unshare(kernel.NEWUSER)
            os.write(tell, b"1")
            os.read(hold, 1)
        finally:
            os._exit(0)
    os.close(hold)
    os.close(tell)
    os.read(made, 1)
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{child}/{name}", "w") as file:
            file.write(f"{inside} {outside} 1")
    namespace = os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    os.close(release)
    os.close(made)
    os.waitpid(child, 0)
    return namespace
