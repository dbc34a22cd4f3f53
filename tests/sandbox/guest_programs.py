"""Small programs that run beside the guest's modules as in a sandbox, and tell what became of what they tried."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from system_calls import MACHINES

from treadle.sandbox import guest

MACHINE = platform.machine()
ROOT = os.name == "posix" and os.geteuid() == 0
GUEST = str(Path(guest.__file__).parent)
NEEDS_KERNEL = [
    pytest.mark.skipif(sys.platform != "linux", reason="the guest's kernel layer is for Linux"),
    pytest.mark.skipif(MACHINE not in MACHINES, reason=f"there is no filter for {MACHINE}"),
]

HEAD = f"""
import ctypes, errno, json, os, signal, socket, sys
sys.path.insert(0, {GUEST!r})
import kernel, landlock, limits, seccomp
plan = json.loads(sys.argv[1])
def tell(**what): print(json.dumps(what), flush=True)
def outcome(act, *arguments):
    try: act(*arguments)
    except OSError as error: return errno.errorcode.get(error.errno, str(error))
    return "ok"
def confine():
    if plan.get("landlock"): kernel.no_new_privileges(); landlock.confine(**plan["landlock"])
    if plan.get("network"): kernel.no_new_privileges(); seccomp.install(plan["network"])
    if plan.get("limits"): limits.apply(plan["limits"])
"""


def start(program: str, **plan: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", "-c", HEAD + textwrap.dedent(program), json.dumps(plan)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def told(program: str, **plan: Any) -> dict[str, Any]:
    """What a program told of itself, confined as the plan says."""
    done = start(program, **plan)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def landlock_version() -> int:
    return told("tell(version=landlock.abi())")["version"]


def needs_landlock(version: int = 1) -> None:
    if landlock_version() < version:
        pytest.skip(f"this kernel has Landlock {landlock_version()}, not {version}")
