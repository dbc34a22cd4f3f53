"""Where everything inside a sandbox begins: ``python launch.py DESCRIPTOR`` of a plan; see `_asked` and `main`."""

from __future__ import annotations

import json
import os
import signal
import sys

import box
import kernel
import owners
import supervise
import zygote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from plan import Plan, Report

CANNOT = 125


def main(plan: Plan) -> int:
    """Make what is missing of the box, then serve programs or run one piece of work.

    Args:
        plan: ``outer`` (``namespaces`` to make the box here; else it stands, or there is none), ``serve`` (descriptor
            to serve on, or ``None``), ``report`` (descriptor to write the report of a single piece of work to), and
            what `box.enter`, `cell.run` and `supervise.Watch` want.
    """
    kernel.not_dumpable()
    kernel.die_with_parent(signal.SIGTERM if plan["outer"] == "none" else signal.SIGKILL)
    if plan["outer"] == "namespaces":
        box.enter(plan)
    if plan["serve"] is not None:
        os.close(plan["payload"])
        zygote.serve(plan["serve"], plan["ready"])
        return 0
    _tell(plan["report"], _once(plan))
    return 0


def _once(plan: Plan) -> Report:
    for descriptor in (plan["report"], plan["payload"]):
        os.set_inheritable(descriptor, False)
    signal.pthread_sigmask(signal.SIG_BLOCK, supervise.SIGNALS)
    kernel.adopt_orphans()
    if plan["private"]:
        most = f"nr_inodes={zygote.most_files(plan['limits']['file_bytes'])}"
        kernel.mount(None, "/tmp", None, kernel.MS_REMOUNT | zygote.TMPFS, most)
        zygote.folders(plan["uid"])
    if plan["place"] is not None:
        owners.show(plan["place"], plan["owner"], plan["uid"])
    return zygote.watched(plan, _put_aside(plan["payload"]))


def _put_aside(payload: int) -> list[int]:
    """Descriptors of the three streams and the files for the work; here nothing is left of the streams."""
    streams = [os.dup(stream) for stream in range(3)]
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)
    return [*streams, payload]


def _asked() -> Plan:
    """The plan: what the descriptor named on the command line begins with; files follow it there."""
    source = int(sys.argv[1])
    size = int.from_bytes(os.read(source, 8), "big")
    words = b""
    while len(words) < size:
        words += os.read(source, size - len(words))
    return json.loads(words) | {"payload": source}


def _tell(report: int, words: Report) -> None:
    os.write(report, json.dumps(words).encode())
    os.close(report)


if __name__ == "__main__":
    asked = _asked()
    try:
        sys.exit(main(asked))
    except Exception as error:  # noqa: BLE001  whoever started this must learn why it cannot
        words = f"{type(error).__name__}: {error}"
        if asked["report"] >= 0:
            _tell(asked["report"], {"cause": "refused", "why": words})
        else:
            sys.stderr.write(f"{words}\n")
        sys.exit(CANNOT)
