"""The Linux system calls by which a process gives up rights, under their own names."""

from __future__ import annotations

import ctypes
import os

NEWNS = 0x00020000
NEWCGROUP = 0x02000000
NEWUTS = 0x04000000
NEWIPC = 0x08000000
NEWUSER = 0x10000000
NEWPID = 0x20000000
NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 0x2
MOUNT_ATTR_RDONLY = 0x1
MOUNT_ATTR_NOSUID = 0x2

_SET_PDEATHSIG, _SET_DUMPABLE, _CAPBSET_DROP = 1, 4, 24
_SET_SUBREAPER, _SET_NO_NEW_PRIVS, _GET_NO_NEW_PRIVS, _CAP_AMBIENT = 36, 38, 39, 47
_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_SIGKILL = 9
_EPERM, _EINVAL = 1, 22
_AF_INET, _SOCK_DGRAM, _SOCK_CLOEXEC = 2, 2, 0o2000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1

_int, _long, _text, _pointer = ctypes.c_int, ctypes.c_long, ctypes.c_char_p, ctypes.c_void_p

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.argtypes = (_long,) * 7
libc.syscall.restype = _long
libc.prctl.argtypes = (_int, _long, _long, _long, _long)
libc.mount.argtypes = (_text, _text, _text, ctypes.c_ulong, _text)
libc.umount2.argtypes = (_text, _int)
libc.pivot_root.argtypes = (_text, _text)
libc.sethostname.argtypes = (_text, ctypes.c_size_t)
libc.capset.argtypes = (_pointer, _pointer)
libc.ioctl.argtypes = (_int, ctypes.c_ulong, _pointer)


def checked(result: int, call: str) -> int:
    """Give back what a call returned.

    Args:
        result: What it returned.
        call: Its name.

    Raises:
        OSError: It returned a negative number: with its ``errno`` and its name.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result


def system_call(call: str, number: int, *arguments: int) -> int:
    """Make a system call that the C library has no function for.

    Args:
        call: Its name, for the error.
        number: Its number.
        arguments: Up to six numbers and addresses.

    Raises:
        OSError: The kernel refused it.
    """
    return checked(libc.syscall(number, *arguments, *(0,) * (6 - len(arguments))), call)


def prctl(call: str, option: int, first: int = 0, second: int = 0) -> int:
    """Operate on this process.

    Args:
        call: What is asked, for the error.
        option: The operation.
        first: Its first argument.
        second: Its second argument.

    Raises:
        OSError: The kernel refused it.
    """
    return checked(libc.prctl(option, first, second, 0, 0), f"prctl({call})")


def no_new_privileges() -> None:
    """Let no program that is started from here on gain rights by its file's owner or capabilities."""
    prctl("PR_SET_NO_NEW_PRIVS", _SET_NO_NEW_PRIVS, 1)


def not_dumpable() -> None:
    """Close this process's memory and ``/proc`` entries to others of the same user; lasts until it starts a program."""
    prctl("PR_SET_DUMPABLE", _SET_DUMPABLE, 0)


def dumpable() -> None:
    """Undo `not_dumpable`."""
    prctl("PR_SET_DUMPABLE", _SET_DUMPABLE, 1)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    prctl("PR_SET_CHILD_SUBREAPER", _SET_SUBREAPER, 1)


def die_with_parent(signal: int = _SIGKILL) -> None:
    """Get a signal when the parent ends; a parent that has ended already and a change of user are not noticed.

    Args:
        signal: Its number.
    """
    prctl("PR_SET_PDEATHSIG", _SET_PDEATHSIG, signal)


def unshare(flags: int) -> None:
    """Leave namespaces for new ones.

    Args:
        flags: ``NEW*`` constants, added up.

    Raises:
        OSError: The kernel or its settings refuse it.
    """
    checked(libc.unshare(flags), "unshare")


def join(fd: int, kind: int) -> None:
    """Enter a namespace.

    Args:
        fd: Descriptor of its file, or of the process it belongs to.
        kind: The ``NEW*`` constant of its kind.

    Raises:
        OSError: The kernel refused it.
    """
    checked(libc.setns(fd, kind), "setns")


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """Mount a file system, or change how one is mounted.

    Args:
        source: Device or folder.
        target: Where.
        kind: Kind of file system.
        flags: ``MS_*`` constants, added up.
        options: Options of that kind of file system, with commas.

    Raises:
        OSError: The kernel refused it.
    """
    result = libc.mount(_path(source), _path(target), _path(kind), flags, _path(options))
    checked(result, f"mount({target})")


def set_mount_attributes(target: str, attributes: int) -> None:
    """Restrict a mount and every one below it (Linux 5.12).

    Args:
        target: Where it is.
        attributes: ``MOUNT_ATTR_*`` constants, added up; those that hold already stay.

    Raises:
        OSError: The kernel refused it.
    """
    path = ctypes.create_string_buffer(os.fsencode(target))
    wanted = (ctypes.c_uint64 * 4)(attributes)
    places = ctypes.addressof(path), _AT_RECURSIVE, ctypes.addressof(wanted), ctypes.sizeof(wanted)
    system_call(f"mount_setattr({target})", _MOUNT_SETATTR, _AT_FDCWD, *places)


def unmount(target: str, flags: int = MNT_DETACH) -> None:
    """Take a mount away.

    Args:
        target: Where it is.
        flags: ``MNT_*`` constants; by default it goes from sight at once and for good with its last user.

    Raises:
        OSError: The kernel refused it.
    """
    checked(libc.umount2(_path(target), flags), f"umount2({target})")


def pivot_root(new: str, old: str) -> None:
    """Change the root file system.

    Args:
        new: The mount that becomes the root.
        old: Where the present root goes, at or below ``new``.

    Raises:
        OSError: The kernel refused it.
    """
    checked(libc.pivot_root(_path(new), _path(old)), f"pivot_root({new})")


def set_hostname(name: str) -> None:
    """Name the host, in this UTS namespace.

    Args:
        name: The name.

    Raises:
        OSError: The kernel refused it.
    """
    raw = os.fsencode(name)
    checked(libc.sethostname(raw, len(raw)), "sethostname")


def drop_capabilities() -> None:
    """Give up every capability for good: bounding, ambient, inheritable, permitted and effective.

    A process that may no longer lower its bounding set (root that became another user) keeps it; that is harmless, and
    therefore accepted, only after `no_new_privileges`.

    Raises:
        OSError: The kernel refused it, or the bounding set stays and could be had back.
    """
    _drop_bounding_set()
    prctl("PR_CAP_AMBIENT", _CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    checked(libc.capset(header, nothing), "capset")


def bring_up_loopback() -> None:
    """Switch on ``lo``, which a new network namespace has switched off.

    Raises:
        OSError: The kernel refused it.
    """
    request = ctypes.create_string_buffer(b"lo", 40)
    fd = checked(libc.socket(_AF_INET, _SOCK_DGRAM | _SOCK_CLOEXEC, 0), "socket")
    try:
        checked(libc.ioctl(fd, _SIOCGIFFLAGS, request), "ioctl(SIOCGIFFLAGS)")
        flags = ctypes.c_short.from_buffer(request, 16)
        flags.value |= _IFF_UP
        checked(libc.ioctl(fd, _SIOCSIFFLAGS, request), "ioctl(SIOCSIFFLAGS)")
    finally:
        os.close(fd)


def _drop_bounding_set() -> None:
    capability = 0
    while libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    number = ctypes.get_errno()
    past_the_last = number == _EINVAL and capability
    if past_the_last or (number == _EPERM and prctl("PR_GET_NO_NEW_PRIVS", _GET_NO_NEW_PRIVS)):
        return
    raise OSError(number, f"prctl(PR_CAPBSET_DROP): {os.strerror(number)}")


def _path(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)
