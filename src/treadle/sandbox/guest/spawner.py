"""Starts the program under test afresh whenever the tester asks, without ever having seen a test."""

from __future__ import annotations

import _socket
import os
import struct
import time

from candidate import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ENDED = struct.Struct("<i")
_KILL = 9
_DUMPABLE = 4
_TRIES = 200


def spawner(control: _socket.socket, job: dict[str, Any], process: Any) -> None:
    """Serve the tester until it goes: ``s`` starts the program (its channel comes back), ``k`` ends it (its status).

    Args:
        control: The tester's end is the other one.
        job: ``source``, ``name``, ``modules`` and ``entries`` of the program.
        process: The C library, or ``None``: the program may look at itself, as any other may.
    """
    child = 0
    while asked := control.recv(1):
        status = _end(child) if child else 0
        child = 0
        if asked == b"k":
            control.send(ENDED.pack(status))
            continue
        ours, theirs = _socket.socketpair()
        child = os.fork()
        if child == 0:
            control.close()
            ours.close()
            if process is not None:
                process.prctl(_DUMPABLE, 1, 0, 0, 0)
            Candidate(theirs.detach(), job).run()
        passed = struct.pack("i", ours.fileno())
        control.sendmsg([b"s"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)])
        ours.close()
        theirs.close()
    if child:
        _end(child)


def _end(child: int) -> int:
    """Kill a process with its group and whatever became this process's child; its wait status."""
    _kill(os.killpg, child)
    _kill(os.kill, child)
    _, status = os.waitpid(child, 0)
    for _ in range(_TRIES):
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
            with open(f"/proc/self/task/{os.getpid()}/children") as children:
                for orphan in children.read().split():
                    _kill(os.kill, int(orphan))
            time.sleep(0.001)  # noqa: TID251
        except OSError:
            break
    return status


def _kill(how: Callable[[int, int], None], process: int) -> None:
    try:
        how(process, _KILL)
    except OSError:
        return
