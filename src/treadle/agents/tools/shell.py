"""The tool ``shell``: a command in a fresh process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treadle.agents.tools.base import OBSERVATION_LIMIT, Observation, WorkerTool, declared
from treadle.ledger.run import Run
from treadle.sandbox.base import ExecResult
from treadle.workspaces.workspace import Workspace


async def _act(arguments: Mapping[str, Any], workspace: Workspace, run: Run) -> Observation:
    command: str = arguments["command"]
    if "\0" in command:
        return Observation("[not run: the command holds a NUL character]", "refused")
    most = workspace.limits.seconds
    seconds = min(float(arguments.get("seconds", most)), most)
    # What the sandbox itself leaves out it counts rightly, however much there was.
    bounded = replace(workspace, limits=replace(workspace.limits, output_bytes=OBSERVATION_LIMIT))
    result = await bounded.shell(command.encode(errors="replace").decode(), run, seconds=seconds)
    return Observation(_told(result, seconds), result.status, result.seconds)


def _told(result: ExecResult, seconds: float) -> str:
    output = (result.stdout + result.stderr).rstrip("\n")
    return f"[{_end(result, seconds)}]\n{output}" if output else f"[{_end(result, seconds)}, no output]"


def _end(result: ExecResult, seconds: float) -> str:
    match result.status:
        case "timed_out":
            return f"timed out after {seconds:g} s; it and all that it started were ended"
        case "out_of_memory":
            return "ended: it wanted more memory than a command may have"
        case "refused":
            return f"not run: {result.reason}"
        case "crashed":
            return f"ended by signal {result.signal}"
        case _:
            return f"exit code {result.exit_code}"


SHELL = WorkerTool(
    declared(
        "shell",
        "Run a shell command (bash) in a fresh process that starts in the folder. Nothing but files stays from one "
        "command to the next. Output and exit code come back; of a long output its beginning and end.",
        {
            "command": {"type": "string", "minLength": 1},
            "seconds": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "Stop it after so long; no longer than usual.",
            },
        },
        ("command",),
    ),
    _act,
)
