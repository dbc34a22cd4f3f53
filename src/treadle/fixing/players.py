"""Who plays which role of a fix."""

from __future__ import annotations

from treadle.agents.base import Worker
from treadle.agents.tool_worker import ToolWorker
from treadle.ledger.recording import Recording
from treadle.workflows.manager_worker.workflow import Mode


def who_plays(recording: Recording, mode: Mode, worker: Worker) -> dict[str, str]:
    """Models by role, with a worker of one's own under its own name; all that will be asked can be.

    Args:
        recording: The fix's run.
        mode: Who manages and who works.
        worker: Who works; one of one's own asks whom it likes.

    Raises:
        UserError: Nobody plays a role, or its model cannot be opened.
    """
    roles = {"strong": {"manager": "manager"}, "weak": {"worker": "worker"}}.get(
        mode, {"manager": "worker" if mode == "weak-weak" else "manager", "worker": "worker"}
    )
    if isinstance(worker, ToolWorker):
        return {role: recording.endpoint(player).alias for role, player in roles.items()}
    managing = {role: recording.endpoint(player).alias for role, player in roles.items() if role == "manager"}
    return {**managing, "worker": worker.name}
