"""The inside of a container: its first process, which watches over the work and tells how it ended; see `main`."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile

import launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from plan import Plan

_FOLDERS = ("/tmp/work", "/tmp/home")


def main(plan: Plan, files: bytes, mark: str) -> None:
    """Run a piece of work; what is left of stdin is its input.

    Its errors stand between two marks, for the engine may have written some before, and its report behind the second:
    a container has no other way out. It is true where this process ended well, for it is written when nothing of the
    work is alive.

    Args:
        plan: As for `launch.main`; the descriptors in it are set here.
        files: The files of the work folder, packed.
        mark: The mark.
    """
    guest = os.path.dirname(__file__)
    sys.path.remove(guest)
    shutil.rmtree(guest)
    for folder in _FOLDERS:
        os.makedirs(folder, exist_ok=True)
    stderr = os.dup(2)
    os.write(stderr, mark.encode())
    told, plan["report"] = os.pipe()
    plan["payload"] = _descriptor(files)
    try:
        launch.main(plan)
        words = os.read(told, 1 << 16)
    except Exception as error:  # whoever started this must learn why it cannot
        words = json.dumps({"cause": "refused", "why": f"{type(error).__name__}: {error}"}).encode()
    os.write(stderr, mark.encode() + words)


def _descriptor(content: bytes) -> int:
    with tempfile.TemporaryFile(dir="/tmp") as file:
        file.write(content)
        file.seek(0)
        return os.dup(file.fileno())
