"""Landlock: which files, ports and processes this process and its descendants may reach from here on.

The rights and the versions that know them are those of ``linux/landlock.h``.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_FIRST_RIGHTS = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEV, _RESOLVE_UNIX = 1 << 13, 1 << 14, 1 << 15, 1 << 16
_LATER_RIGHTS = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV), (9, _RESOLVE_UNIX))
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV | _RESOLVE_UNIX
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_TCP_ABI, _SCOPE_ABI = 4, 6


def abi() -> int:
    """Ask the kernel for its version of Landlock's interface, 0 where it has none or it is switched off."""
    return max(0, kernel.libc.syscall(_CREATE_RULESET, 0, 0, _CREATE_RULESET_VERSION, 0, 0, 0))


def confine(readable: Iterable[str], writable: Iterable[str], *, scoped: bool = True, tcp: bool = False) -> int:
    """Refuse every file but these, for good; `kernel.no_new_privileges` comes first.

    Descriptors that are open already stay usable. What the kernel's version does not know is not refused: below 3 a
    file can be truncated by its path, below 4 TCP is open, below 6 signals and abstract sockets are, below 9 sockets
    with a path are (the network ``pairs`` of `seccomp` closes those); UDP always is.

    Args:
        readable: Files and folders that may be read and executed; those that do not exist are passed over.
        writable: Files and folders that may be changed as well; no device can be made in them.
        scoped: Whether signals and abstract unix sockets end at this process's descendants.
        tcp: Whether TCP ports may be bound and connected to.

    Returns:
        The version whose rights are refused.

    Raises:
        OSError: The kernel has no Landlock or refused it, or a path cannot be opened.
    """
    version = abi()
    files = _FIRST_RIGHTS
    for since, right in _LATER_RIGHTS:
        if version >= since:
            files |= right
    ruleset = _create(version, files, scoped=scoped, tcp=tcp)
    try:
        for path in readable:
            _allow(ruleset, path, files & _READ)
        for path in writable:
            _allow(ruleset, path, files & ~(_MAKE_CHAR | _MAKE_BLOCK))
        kernel.system_call("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return version


def _create(version: int, files: int, *, scoped: bool, tcp: bool) -> int:
    fields = [files]
    if version >= _TCP_ABI:
        fields.append(0 if tcp else _BIND_AND_CONNECT_TCP)
    if version >= _SCOPE_ABI:
        fields.append(_ABSTRACT_SOCKETS_AND_SIGNALS if scoped else 0)
    rules = struct.pack(f"={len(fields)}Q", *fields)
    held = ctypes.create_string_buffer(rules, len(rules))
    return kernel.system_call("landlock_create_ruleset", _CREATE_RULESET, ctypes.addressof(held), len(rules), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, fd)
        held = ctypes.create_string_buffer(rule, len(rule))
        address = ctypes.addressof(held)
        kernel.system_call(f"landlock_add_rule({path})", _ADD_RULE, ruleset, _RULE_PATH_BENEATH, address, 0)
    finally:
        os.close(fd)
