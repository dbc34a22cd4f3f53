"""Regret on simulated tasks: how far the structure that was found is from the best there is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from treadle.errors import UserError
from treadle.ledger.recording import Recording
from treadle.search.space import Space
from treadle.search.spaces.archon import ArchonSpace
from treadle.tasks.task import Task
from treadle.workflows.archon.kinds import KINDS
from treadle.workflows.archon.structure import Archon
from treadle.workflows.base import Workflow

if TYPE_CHECKING:
    from treadle.evaluation.statistics.clusters import FloatArray


@runtime_checkable
class KnownTruth(Protocol):
    """A task that knows the true score of workflows, because it is simulated."""

    def true_score(self, workflow: Workflow, models: Sequence[str]) -> float | None:
        """The true score of a workflow, a fraction; ``None`` where it is not known."""
        ...


@runtime_checkable
class KnownSurface(KnownTruth, Protocol):
    """One that knows those of many structures at once."""

    def true_scores(self, structures: Sequence[Archon], models: Sequence[str]) -> FloatArray:
        """The true score of each structure, a fraction."""
        ...


async def regret(task: Task, space: Space, winner: Workflow, recording: Recording) -> float | None:
    """Points from the true score of a winner to that of the best structure in the space.

    Args:
        task: What was searched on.
        space: Where, with the models ranked as they were.
        winner: What was found.
        recording: The search's run.

    Returns:
        ``None`` where the task is not simulated, roles are named, or models play that the simulation does not know.
    """
    if not isinstance(task, KnownTruth) or any(recording.named(kind.role) for kind in KINDS):
        return None
    try:
        return await asyncio.to_thread(_regret, task, space, winner, recording.models)
    except UserError:
        return None


def _regret(task: KnownTruth, space: Space, winner: Workflow, models: Sequence[str]) -> float | None:
    found = task.true_score(winner, models)
    if isinstance(space, ArchonSpace):
        if not isinstance(task, KnownSurface):
            return None
        best: float | None = float(task.true_scores([space.structure(point) for point in space.points], models).max())
    else:
        scores = [task.true_score(structure.workflow, models) for structure in space.structures()]
        known = [score for score in scores if score is not None]
        best = max(known) if len(known) == len(scores) else None
    return None if found is None or best is None else 100.0 * max(0.0, best - found)
