"""A warm interpreter that forks a confined cell for each program, one at a time, and never runs one itself."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

import box
import cell
import kernel
import seccomp
import supervise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from plan import Plan, Ready, Report

_LARGEST = 1 << 17
_USED_MOST = (
    "bisect",
    "collections",
    "copy",
    "ctypes",
    "decimal",
    "fractions",
    "functools",
    "heapq",
    "itertools",
    "math",
    "marshal",
    "operator",
    "random",
    "re",
    "select",
    "socket",
    "statistics",
    "string",
    "struct",
    "traceback",
    "types",
    "typing",
    "warnings",
    "zlib",
)
TMPFS = kernel.MS_NOSUID | kernel.MS_NODEV
_MOST_FILES, _EACH = 16384, 16384
_LONGEST_WHY = 2048


def warm_up(ready: Ready | None) -> None:
    """Import what programs use most, so that each finds it there: a second import costs nothing.

    Args:
        ready: Modules of ours that are kept aside, under a name that the loader of tests knows.
    """
    for name in _USED_MOST:
        __import__(name)
    if ready is not None:
        loaded = [__import__(name) for name in ready["modules"]]
        aside = sys.modules["_treadle_ready"] = type(sys)("_treadle_ready")
        aside.__dict__.update(digest=ready["digest"], main=loaded[-1].main)
    seccomp.filter_program("none")


def serve(channel: int, ready: Ready | None) -> None:
    """Run programs until the channel closes.

    A message is a plan as JSON with the descriptors of stdin, stdout, stderr and the files; its answer is the report
    of `supervise.Watch`, sent when nothing of the program is alive.

    Args:
        channel: Descriptor of a sequenced-packet socket.
        ready: See `warm_up`.
    """
    link = socket.socket(fileno=channel)
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    signal.pthread_sigmask(signal.SIG_BLOCK, supervise.SIGNALS)
    warm_up(ready)
    link.send(b"ready")
    while True:
        message, passed, _, _ = socket.recv_fds(link, _LARGEST, 4)
        if not message:
            return
        link.send(_run(json.loads(message), passed, link, own))


def _run(plan: Plan, passed: list[int], link: socket.socket, own: int) -> bytes:
    told, tell = os.pipe()
    # A process takes part in a process namespace through its children only, and may prepare one at a time.
    kernel.join(own, kernel.NEWPID)
    kernel.unshare(kernel.NEWPID)
    supervisor = os.fork()
    if supervisor == 0:
        try:
            os.close(told)
            os.close(own)
            link.close()
            os.write(tell, json.dumps(_supervise(plan, passed)).encode())
        except BaseException as error:
            os.write(tell, json.dumps({"cause": "refused", "why": f"{type(error).__name__}: {error}"}).encode())
        finally:
            os._exit(0)
    for descriptor in (tell, *passed):
        os.close(descriptor)
    report = b""
    while part := os.read(told, 65536):
        report += part
    os.close(told)
    os.waitpid(supervisor, 0)
    return report or b'{"cause": "lost"}'


def _supervise(plan: Plan, passed: list[int]) -> Report:
    kernel.not_dumpable()
    kernel.unshare(kernel.NEWNS | kernel.NEWIPC)
    private(plan)
    return watched(plan, passed)


def watched(plan: Plan, passed: Sequence[int]) -> Report:
    """Start a piece of work and watch over it to its end.

    Args:
        plan: What to run and what it may.
        passed: Descriptors of stdin, stdout, stderr and the files; closed here.
    """
    watch = supervise.Watch(plan)
    told, faults = os.pipe()
    child = os.fork()
    if child == 0:
        _become(plan, passed, faults)
    for descriptor in (faults, *passed):
        os.close(descriptor)
    report = watch.follow(child)
    why = os.read(told, _LONGEST_WHY)
    os.close(told)
    return {"cause": "refused", "why": why.decode("utf-8", "replace")} if why else report


def _become(plan: Plan, passed: Sequence[int], faults: int) -> None:
    """Turn into the work, or say why that cannot be."""
    try:
        cell.run(plan, passed[:3], passed[3], faults)
    except BaseException as error:
        os.write(faults, f"it cannot be started: {type(error).__name__}: {error}".encode("utf-8", "replace"))
    finally:
        os._exit(cell.CANNOT_START)


def private(plan: Plan) -> None:
    """Mount this program's own ``/proc``, ``/tmp`` and ``/dev/shm``, with its work folder and home."""
    size = plan["limits"]["file_bytes"]
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE, None)
    kernel.mount("proc", "/proc", "proc", TMPFS | kernel.MS_NOEXEC, None)
    covered = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in plan["covered"]]
    kernel.mount("tmpfs", "/tmp", "tmpfs", TMPFS, f"size={size},mode=1777,nr_inodes={most_files(size)}")
    for path, source in covered:
        box.bind(source, path, kernel.MOUNT_ATTR_RDONLY)
        os.close(source)
    folders(plan["uid"])


def most_files(size: int) -> int:
    """How many files private folders of a size may hold: each is memory of the kernel's that no limit counts."""
    return max(_MOST_FILES, size // _EACH)


def folders(owner: int | None) -> None:
    """Make the work folder, the home and the shared memory of a piece of work in its ``/tmp``."""
    for folder, mode in (("/tmp/work", 0o755), ("/tmp/home", 0o755), ("/tmp/shm", 0o1777)):
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, mode)
        if owner is not None:
            os.chown(folder, owner, owner)
    kernel.mount("/tmp/shm", "/dev/shm", None, kernel.MS_BIND, None)
