"""A list of workflows as a space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treadle.search.space import Structure
from treadle.workflows.base import Workflow


@dataclass(frozen=True, slots=True)
class WorkflowList:
    """The structures that were named, each once."""

    name: str
    workflows: tuple[Workflow, ...]

    @property
    def raw(self) -> int:
        """Workflows named."""
        return len(self.workflows)

    @property
    def valid(self) -> int:
        """All of them: each was checked when it was read."""
        return len(self.workflows)

    def structures(self) -> Sequence[Structure]:
        """The workflows in the order in which they were named."""
        return [Structure(workflow.name, workflow) for workflow in self.workflows]

    def document(self) -> dict[str, Any]:
        """Name, counts, axes and constraints as JSON values."""
        names = [workflow.name for workflow in self.workflows]
        return {
            "name": self.name,
            "raw": self.raw,
            "valid": self.valid,
            "axes": {"workflow": names},
            "constraints": [],
        }
