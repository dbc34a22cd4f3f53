"""Work without isolation: ``python bare.py PLAN`` holds it to its limits and ends what it leaves; see `main`."""

from __future__ import annotations

import json
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from plan import Plan

CANNOT_START = 126


def main(plan: Plan) -> int:
    """Run a command to its end, then end every process that it started.

    Args:
        plan: ``argv``, ``folder``, ``env``, ``limits``, ``scratch``, ``alone``, and ``report``: where it is -1 this
            process becomes the command, for only Linux gives it the orphans to end.
    """
    if plan["report"] < 0:
        _become(plan)
    import kernel
    import supervise

    signal.pthread_sigmask(signal.SIG_BLOCK, supervise.SIGNALS)
    kernel.die_with_parent(signal.SIGTERM)
    kernel.adopt_orphans()
    os.set_inheritable(plan["report"], False)
    watch = supervise.Watch(plan)
    child = os.fork()
    if child == 0:
        os.setsid()
        _become(plan)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.write(plan["report"], json.dumps(watch.follow(child)).encode())
    return 0


def _become(plan: Plan) -> NoReturn:
    argv = plan["argv"] or []
    try:
        os.chdir(plan["folder"])
        _limit(plan)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.closerange(3, 256)
        os.execvpe(argv[0], argv, plan["env"])
    except BaseException as error:  # a forked child must never return into its parent's code
        os.write(2, f"{argv[0]}: {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(CANNOT_START)


def _limit(plan: Plan) -> None:
    import resource

    wanted = plan["limits"].copy()
    if sys.platform == "linux":
        import limits

        # The kernel counts the user's other processes too, so it is left to the watch.
        wanted["processes"] = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        limits.apply(wanted)
        return
    for kind, most in (
        (resource.RLIMIT_CPU, wanted["cpu_seconds"]),
        (resource.RLIMIT_FSIZE, wanted["file_bytes"]),
        (resource.RLIMIT_NOFILE, wanted["open_files"]),
    ):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
