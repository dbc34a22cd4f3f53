"""What a search was asked for, as the store keeps it, so that it can go on as it was begun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from treadle.errors import UserError
from treadle.evaluation.measuring import Asked
from treadle.evaluation.preparing import TaskLike
from treadle.ledger.budget import Budget
from treadle.ledger.session import Session, find_run
from treadle.search.settings import SearchSettings
from treadle.store.text import decode, encode
from treadle.tasks.decorator import UserTask
from treadle.tasks.task import Task


def as_asked(space: str, task: TaskLike, method: str, settings: SearchSettings, asked: Asked) -> dict[str, Any]:
    """What was asked, as JSON values: everything that a resumed search must have in common with it."""
    return {
        "space": space,
        "task": [task] if isinstance(task, str) else [] if isinstance(task, Task | UserTask) else list(task),
        "method": method,
        "settings": asdict(settings),
        "models": list(asked.models),
        "roles": dict(asked.roles),
        "limit": asked.limit,
        "fresh": asked.fresh,
        "seed": asked.seed,
        "budget": asdict(asked.budget or Budget()),
        "caps": asdict(asked.question_caps),
        "drop_bad_gold": asked.drop_bad_gold,
    }


async def check_same(session: Session, run: str, spec: Mapping[str, Any]) -> None:
    """Make sure that a resumed search is the one that was begun; only its budget may differ.

    Args:
        session: Whose store the run is in.
        run: The run's id.
        spec: What is asked for now.

    Raises:
        UserError: Names what differs.
    """
    record = await session.journal.read(lambda store: find_run(store, run))
    begun: dict[str, Any] = decode(record.spec)
    asked: dict[str, Any] = decode(encode(spec["asked"]))
    known: dict[str, Any] = begun.get("asked") or {}
    other = [name for name in asked if name != "budget" and asked[name] != known.get(name)]
    if begun.get("data") != spec["data"]:
        other.append("data")
    if other:
        raise UserError(
            f"run {run} was begun with other settings ({', '.join(other)}); it can only go on as it was begun"
        )
