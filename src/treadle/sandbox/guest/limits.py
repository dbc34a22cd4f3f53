"""Limits that the kernel holds a process and each of its descendants to."""

from __future__ import annotations

import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from plan import Limits

_MEMLOCK = 64 * 1024
_SIGNALS = 1024

_FIXED = (
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_MEMLOCK, _MEMLOCK),
    (resource.RLIMIT_MSGQUEUE, 0),
    (resource.RLIMIT_SIGPENDING, _SIGNALS),
    (resource.RLIMIT_RTPRIO, 0),
    (resource.RLIMIT_NICE, 0),
)


def apply(limits: Limits) -> None:
    """Hold this process and its descendants to limits, never above those it has.

    No core files, message queues and real-time priority, and little locked memory, whatever is given. A Python
    process ignores SIGXFSZ, so that a file that grows too large is an error (EFBIG) for it and for what it starts.

    Args:
        limits: ``cpu_seconds`` (SIGXCPU at its end, SIGKILL a second later), ``address_space`` (bytes of all mappings,
            reserved ones too), ``processes`` (of the user, threads counted; does not bind root), ``file_bytes`` and
            ``open_files``, each where it is given. ``seconds`` and ``memory`` are for whoever watches.

    Raises:
        OSError: The kernel refused it.
    """
    for kind, amount in _FIXED:
        _lower(kind, amount, amount)
    if "cpu_seconds" in limits:
        _lower(resource.RLIMIT_CPU, limits["cpu_seconds"], limits["cpu_seconds"] + 1)
    if "address_space" in limits:
        _lower(resource.RLIMIT_AS, limits["address_space"], limits["address_space"])
    if "processes" in limits:
        _lower(resource.RLIMIT_NPROC, limits["processes"], limits["processes"])
    if "file_bytes" in limits:
        _lower(resource.RLIMIT_FSIZE, limits["file_bytes"], limits["file_bytes"])
    if "open_files" in limits:
        _lower(resource.RLIMIT_NOFILE, limits["open_files"], limits["open_files"])


def _lower(kind: int, soft: int, hard: int) -> None:
    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))
