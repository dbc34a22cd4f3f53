"""What a search was asked for, as the store keeps it, so that it can go on as it was begun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from treadle.errors import UserError
from treadle.evaluation.measuring import Asked
from treadle.evaluation.preparing import TaskLike
from treadle.ledger.budget import Budget
from treadle.ledger.session import Session, find_run
from treadle.search.settings import SearchSettings
from treadle.search.space import Space
from treadle.search.spaces.archon import ArchonSpace
from treadle.store.text import decode, encode
from treadle.tasks.decorator import UserTask
from treadle.tasks.task import Task
from treadle.workflows.archon.json_form import structure_document
from treadle.workflows.weakening import structure_of


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


def fingerprint(space: Space) -> str:
    """What tells a space from another of its name: a file that it was read from may have been changed since.

    Args:
        space: The space, before models are ranked.
    """
    if isinstance(space, ArchonSpace):
        return sha256(repr(space.dials).encode()).hexdigest()
    workflows = [structure.workflow for structure in space.structures()]
    known = [(workflow.name, structure_of(workflow)) for workflow in workflows]
    named = [(name, structure and structure_document(structure)) for name, structure in known]
    return sha256(encode(named)).hexdigest()


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
    if "space" not in other and begun.get("space") not in (None, spec["space"]):
        other.append("what the space's files hold")
    if other:
        raise UserError(
            f"run {run} was begun with other settings ({', '.join(other)}); it can only go on as it was begun"
        )


async def with_best(session: Session, run: str | None, document: dict[str, Any]) -> dict[str, Any]:
    """The document that is kept of a search: what an earlier part of it found is not given up for nothing.

    Args:
        session: Whose store the run is in.
        run: The run that was resumed, if one was.
        document: What it answers now.
    """
    if run is None or document["best"] is not None:
        return document
    record = await session.journal.read(lambda store: find_run(store, run))
    earlier: dict[str, Any] = decode(record.result) if record.result is not None else {}
    return earlier if earlier.get("best") else document
