"""Making a folder's files look like another user's, on disk as they were: an idmapped mount."""

from __future__ import annotations

import ctypes
import os
import struct

import kernel

_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_CLONE, _CLOEXEC, _FROM_DESCRIPTOR = 1, 0o2000000, 4
_IDMAP = 0x00100000
_ATTRIBUTES = struct.Struct("=QQQQ")


def show_as(folder: str, owner: int, user: int) -> None:
    """Mount a folder over itself so that one user's files belong to another there; needs root.

    Args:
        folder: A path in this mount namespace.
        owner: Who owns them on disk.
        user: Who owns them there; what that user writes is the owner's on disk.

    Raises:
        OSError: The kernel (before 5.12) or the file system cannot.
    """
    path = ctypes.create_string_buffer(os.fsencode(folder))
    nothing = ctypes.create_string_buffer(b"")
    at, empty = ctypes.addressof(path), ctypes.addressof(nothing)
    tree = kernel.system_call("open_tree", _OPEN_TREE, _AT_FDCWD, at, _CLONE | _CLOEXEC | _AT_RECURSIVE)
    mapping = _user_namespace(owner, user)
    wanted = ctypes.create_string_buffer(_ATTRIBUTES.pack(_IDMAP, 0, 0, mapping), _ATTRIBUTES.size)
    flags = _AT_EMPTY_PATH | _AT_RECURSIVE
    kernel.system_call("mount_setattr", _MOUNT_SETATTR, tree, empty, flags, ctypes.addressof(wanted), _ATTRIBUTES.size)
    kernel.system_call("move_mount", _MOVE_MOUNT, tree, empty, _AT_FDCWD, at, _FROM_DESCRIPTOR)
    os.close(tree)
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
