"""``--dry-run``: what a measurement would cost, before a cent is spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treadle.cli.options import Asking, Measuring
    from treadle.evaluation.estimate import Estimate
    from treadle.ledger.session import Session
    from treadle.tasks.base import Sample


async def dry_run(
    session: Session, options: Measuring, workflows: Sequence[str], task: Sequence[str], repeat: int
) -> int:
    """Say what measuring workflows on a task would cost; gives the exit code.

    Args:
        session: An open session.
        options: The command's options.
        workflows: Specs.
        task: Specs.
        repeat: How often each question would be answered.
    """
    from treadle.evaluation.preparing import prepare_task

    opened = await prepare_task(session, task, limit=options.limit, drop_bad_gold=options.drop_bad_gold)
    say_estimate(estimated(session, options, workflows, opened.samples, repeat), options, opened.name)
    return 0


def estimated(
    session: Session, options: Asking, workflows: Sequence[str], samples: Sequence[Sample], repeat: int = 1
) -> Estimate:
    """What asking workflows these samples would cost."""
    from treadle.evaluation.estimate import estimate
    from treadle.evaluation.preparing import prepare_workflows
    from treadle.ledger.recording import Cast

    cast = Cast(options.cast(), options.roles())
    endpoint = session.endpoint(cast.model(None, session.roles, session.aliases))
    return estimate(prepare_workflows(workflows), samples, endpoint, repeat)


def say_estimate(estimate: Estimate, options: Asking, title: str) -> None:
    """Print an estimate."""
    from treadle.cli.output import print_json, print_text

    document = estimate.document()
    if options.as_json:
        print_json(document)
        return
    from treadle.cli import tables

    print_text(tables.estimated(document, title))
