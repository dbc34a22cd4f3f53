"""``treadle runs``: what was run here."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.cli.help import add
from treadle.cli.options import Common

if TYPE_CHECKING:
    from treadle.ledger.session import Session
    from treadle.store.base import RunRecord

_EXAMPLE = "treadle runs --limit 10"


def runs(
    options: Common,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The latest N runs.")] = 20,
) -> int:
    """List runs, the latest first.

    A run that was killed says so; the same command goes on from what it paid for.
    """
    from treadle.cli.running import in_session

    return in_session(options.config, lambda session: _runs(session, limit, options))


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "runs", runs, _EXAMPLE)


async def _runs(session: Session, limit: int, options: Common) -> int:
    from treadle.cli.output import print_json, print_text

    document = [_document(run) for run in await session.journal.read(lambda store: store.runs(limit))]
    if options.as_json:
        print_json(document)
        return 0
    from treadle.cli import tables

    print_text(tables.runs(document))
    return 0


def _document(run: RunRecord) -> dict[str, Any]:
    return {
        "run": run.id,
        "command": run.command,
        "task": run.task,
        "ended_by": run.ended_by,
        "started": datetime.fromtimestamp(run.started, UTC).isoformat(timespec="seconds"),
        "usd": run.usd,
    }
