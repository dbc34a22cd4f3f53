"""Importing does nothing: no loop, no patch, no network, no file of anybody's."""

from __future__ import annotations

import subprocess
import sys

PROBE = """
import asyncio, sys

seen = []

def hook(event, arguments):
    if event.startswith("socket.") or event == "subprocess.Popen":
        seen.append((event, arguments))
    if event == "open" and isinstance(arguments[0], str):
        path, mode = arguments[0], arguments[1] or "r"
        code = path.endswith((".py", ".pyc", ".so", ".pth", "METADATA", "entry_points.txt"))
        if set(mode) & set("wax+") or not code:
            seen.append((event, path, mode))

async def main():
    loop, policy, run = asyncio.get_running_loop(), asyncio.get_event_loop_policy(), asyncio.run
    sys.dont_write_bytecode = True
    sys.addaudithook(hook)
    import treadle
    assert asyncio.get_running_loop() is loop
    assert asyncio.get_event_loop_policy() is policy
    assert asyncio.run is run
    try:
        treadle.evaluate_sync("single", task="jsonl:x")
    except treadle.api_sync.UserError as error:
        assert "await treadle.evaluate" in str(error)
    else:
        raise AssertionError("a second loop ran inside the first")

asyncio.run(main())
assert not seen, seen
assert "treadle.cli" not in sys.modules and "scipy" not in sys.modules and "aiohttp" not in sys.modules
"""


def test_importing_inside_a_running_loop_touches_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
