"""Where attacks succeed: sandboxes with a part left out, plain processes, one interpreter for several programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from attack import Attack, Seen
from canaries import Canaries

from treadle.sandbox.base import MIB, ExecResult, Program, Sandbox, Surroundings
from treadle.sandbox.layout import GUEST, Layout
from treadle.sandbox.linux import LinuxSandbox, Wrapped
from treadle.sandbox.unprotected import Unprotected

PARTS = {
    "the filter of system calls": "import seccomp; seccomp.install = lambda network: None",
    "the loss of capabilities": "import kernel; kernel.drop_capabilities = lambda: None",
    "a user of its own": (
        "import cell; plainly = cell.run; cell.run = lambda plan, *rest: plainly({**plan, 'uid': None}, *rest)"
    ),
    "a process namespace of its own": (
        "import kernel; leave = kernel.unshare; kernel.unshare = lambda flags: flags == kernel.NEWPID or leave(flags)"
    ),
    "the look at who sent a signal": "import supervise; supervise.Watch._from_outside = lambda self, told: True",
    "closed descriptors": "import cell; cell.os.closerange = lambda low, high: None",
}
START = "import runpy, sys; sys.path.insert(0, {guest!r})\n{parts}\nrunpy.run_path({launch!r}, run_name='__main__')"
LOOSE = {"memory": 256 * MIB, "processes": 96, "file_bytes": 256 * MIB, "open_files": 1024}
IN_TURN = """\
import contextlib, io, json, os, sys
texts, spaces = [], []
for source in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        spaces.append({"__name__": "__main__"})
        try: exec(source, spaces[-1])
        except BaseException: pass
    texts.append(text.getvalue())
os.write(1, json.dumps(texts).encode())
os._exit(0)
"""


def weakened(kind: type[LinuxSandbox], parts: Sequence[str]) -> LinuxSandbox:
    """A sandbox of a kind with parts left out."""
    launch = str(GUEST / "launch.py")
    code = START.format(guest=str(GUEST), launch=launch, parts="\n".join(PARTS[part] for part in parts))

    class Weakened(kind):
        def wrapped(self, launch: Sequence[str], plan: dict[str, Any], layout: Layout, opened: ExitStack) -> Wrapped:
            return super().wrapped([*launch[:-1], "-c", code], plan, layout, opened)

    return Weakened(width=1)


async def unprotected(attack: Attack, canaries: Canaries) -> Seen:
    """Run it without a sandbox, with more than enough of everything but time."""
    bare = replace(attack.limits, **LOOSE, seconds=attack.limits.seconds + 1.3)
    return await in_sandbox(Unprotected(), attack, canaries, attack.program(canaries.bait(sandboxed=False)), bare)


async def in_sandbox(sandbox: Sandbox, attack: Attack, canaries: Canaries, program: str, limits: Any) -> Seen:
    """Run it and what follows it in a sandbox, as a program."""
    bait = canaries.bait(sandboxed=sandbox.name != "none")
    surroundings = Surroundings(folder=canaries.work) if attack.folder else Surroundings()
    if attack.before:
        await sandbox.execute(
            Program(attack.program(bait, attack.before)), stdin=canaries.secret.encode(), limits=limits
        )
    began = time.monotonic()
    result = await sandbox.execute(Program(program), limits=limits, surroundings=surroundings)
    seconds = time.monotonic() - began
    after = None
    if attack.after:
        after = await sandbox.execute(
            Program(attack.program(bait, attack.after)), limits=limits, surroundings=surroundings
        )
    return Seen(result, after, seconds, canaries, attack.limits)


def plain(attack: Attack, canaries: Canaries) -> Seen:
    """Run it as any program, with the secret in its environment and a descriptor left open."""
    environment = {**os.environ, "TREADLE_KEY": canaries.secret, "HOME": str(canaries.root / "home")}
    folder = os.open(canaries.file.parent, os.O_RDONLY)
    bait = canaries.bait(sandboxed=False)

    def run(source: str) -> ExecResult:
        done = subprocess.run(
            [sys.executable, "-c", attack.program(bait, source)],
            capture_output=True,
            cwd=canaries.work,
            env=environment,
            pass_fds=(folder,),
            timeout=60,
            check=False,
        )
        ended = done.returncode
        code, number = (ended, None) if ended >= 0 else (None, -ended)
        status = "crashed" if number else "failed" if code else "ok"
        return ExecResult(status, done.stdout.decode(), done.stderr.decode(), code, number)

    try:
        began = time.monotonic()
        result = run(attack.source)
        seconds = time.monotonic() - began
        return Seen(result, run(attack.after) if attack.after else None, seconds, canaries, attack.limits)
    finally:
        os.close(folder)


def in_one_interpreter(attack: Attack, canaries: Canaries) -> Seen:
    """Run what comes before it, it, and what follows it by ``exec``, as some harnesses do."""
    bait = canaries.bait(sandboxed=False)
    before = f"secret = {canaries.secret!r}\n"
    sources = [before, *(attack.program(bait, each) for each in (attack.source, attack.after))]
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN],
        input=json.dumps(sources).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    texts: list[str] = json.loads(done.stdout)
    return Seen(ExecResult("ok", texts[1]), ExecResult("ok", texts[2]), 0.0, canaries, attack.limits)
