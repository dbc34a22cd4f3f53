"""Going on with a search that was stopped, from what the store knows of it."""

from __future__ import annotations

from typing import Any

from treadle.errors import UserError
from treadle.evaluation.measuring import Watch
from treadle.ledger.budget import Budget
from treadle.ledger.session import Session, find_run
from treadle.search.report import SearchReport
from treadle.search.search import search
from treadle.search.settings import SearchSettings
from treadle.store.text import decode


async def read_asked(session: Session, run: str) -> dict[str, Any]:
    """What a stored search was asked for, as JSON values.

    Args:
        session: Whose store the run is in.
        run: The run's id.

    Returns:
        ``space``, ``task``, ``method``, ``settings``, ``models``, ``roles``, ``limit``, ``fresh``, ``seed``,
        ``budget``, ``caps`` and ``drop_bad_gold``.

    Raises:
        UserError: When the run is unknown, no search, or was begun from a program's own task.
    """
    record = await session.journal.read(lambda store: find_run(store, run))
    asked: dict[str, Any] = decode(record.spec).get("asked") or {}
    if not asked.get("task"):
        raise UserError(
            f"run {run} ({record.command}) was not begun by `treadle search`; it cannot be resumed from here"
        )
    return asked


async def resume_search(
    session: Session,
    run: str,
    *,
    budget: Budget | None = None,
    concurrency: int | None = None,
    watch: Watch | None = None,
) -> SearchReport:
    """Go on with a search as it was asked for, under its own id.

    Args:
        session: Whose store the run is in.
        run: The run's id.
        budget: Caps that take the place of the ones it was begun with.
        concurrency: Questions in flight at once.
        watch: Told after every round.

    Raises:
        UserError: When the run is unknown, still running, no search, or was begun from a program's own task.
    """
    asked = await read_asked(session, run)
    record = await session.journal.read(lambda store: find_run(store, run))
    # What is done was paid for: going on with it costs nothing, whatever it was begun with.
    begun = Budget() if record.ended_by == "done" else Budget(**asked["budget"])
    return await search(
        session,
        asked["space"],
        task=asked["task"],
        method=asked["method"],
        settings=SearchSettings(**asked["settings"]),
        models=asked["models"],
        roles=asked["roles"],
        limit=asked["limit"],
        fresh=asked["fresh"],
        seed=asked["seed"],
        budget=begun.merged(budget or Budget()),
        caps=Budget(**asked["caps"]),
        drop_bad_gold=asked["drop_bad_gold"],
        concurrency=concurrency,
        watch=watch,
        resume=run,
    )
