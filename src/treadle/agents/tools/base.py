"""What a tool of a worker is: a declaration that a model reads, and an async function that acts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treadle.ledger.run import Run
from treadle.models.base import Tool
from treadle.workspaces.workspace import Workspace

OBSERVATION_LIMIT = 10_000
"""Characters of an observation: half of them from its start, half from its end, with the count of those between."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What came of an action.

    Attributes:
        text: What the worker is told.
        status: How it ended: a `treadle.sandbox.base.Status`; ``format`` where the action was none, ``skipped``
            where it came too late.
        seconds: What it took.
    """

    text: str
    status: str = "ok"
    seconds: float = 0.0


Act = Callable[[Mapping[str, Any], Workspace, Run], Awaitable[Observation]]


@dataclass(frozen=True, slots=True)
class WorkerTool:
    """A tool of a worker.

    Attributes:
        declaration: Name, description and the JSON schema of its arguments.
        act: Does it; its arguments follow the schema.
        edits: Whether it changes files, and so is not given to whoever may only look.
    """

    declaration: Tool
    act: Act
    edits: bool = False

    @property
    def name(self) -> str:
        """What a model calls it."""
        return self.declaration.name


def declared(name: str, description: str, properties: Mapping[str, Any], required: tuple[str, ...]) -> Tool:
    """The declaration of a tool whose arguments are these and no others."""
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(name, description, schema)
