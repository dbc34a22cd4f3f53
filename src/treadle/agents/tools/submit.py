"""The tool ``submit``: the report that ends the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treadle.agents.tools.base import Observation, WorkerTool, declared
from treadle.ledger.run import Run
from treadle.workspaces.workspace import Workspace


async def _act(arguments: Mapping[str, Any], workspace: Workspace, run: Run) -> Observation:
    return Observation(arguments["report"])


SUBMIT = WorkerTool(
    declared(
        "submit",
        "End the work with a report: what was found or done. Call it alone, as the last thing.",
        {"report": {"type": "string", "minLength": 1}},
        ("report",),
    ),
    _act,
)
