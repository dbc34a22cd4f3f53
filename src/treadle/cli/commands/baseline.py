"""``treadle baseline``: what every structure has to beat, and how much of it is noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from treadle.cli.help import add
from treadle.cli.options import Measuring, Tasks

if TYPE_CHECKING:
    from treadle.ledger.session import Session

_EXAMPLE = "treadle baseline --task gsm8k:test.jsonl --model weak --limit 100"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineOptions(Measuring):
    """Options of ``treadle baseline``."""

    repeat: Annotated[
        int, typer.Option("--repeat", metavar="R", min=2, help="Answer every question so often; the noise shows.")
    ] = 5
    margin: Annotated[float, typer.Option("--margin", metavar="POINTS", min=0, help="Points that do not matter.")] = 2.0


def baseline(task: Tasks, options: BaselineOptions) -> int:
    """Measure one call, chain of thought and self-consistency, and the noise floor.

    Ends with advice on what to try next.
    """
    from treadle.cli.dry_run import dry_run
    from treadle.cli.running import in_session

    if options.dry_run:
        from treadle.evaluation.baseline import BASELINES

        return in_session(options.config, lambda session: dry_run(session, options, BASELINES, task, options.repeat))
    return in_session(options.config, lambda session: _baseline(session, task, options))


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "baseline", baseline, _EXAMPLE)


async def _baseline(session: Session, task: list[str], options: BaselineOptions) -> int:
    from treadle.api import baseline as measured
    from treadle.cli.codes import exit_code
    from treadle.cli.output import print_json, print_text, screen_width
    from treadle.cli.progress import progress_bar
    from treadle.cli.simulation import is_simulated, named

    with progress_bar("baseline") as watch:
        report = await measured(
            task,
            session=session,
            repeat=options.repeat,
            margin=options.margin,
            watch=watch,
            **options.measuring(),
        )
    document = report.document()
    if options.as_json:
        print_json(document)
    else:
        from treadle.cli import tables

        simulated = is_simulated(session, [*task, *named(session, options)])
        print_text(
            tables.measured(document, width=screen_width(), simulated=simulated, message=report.message),
            tables.advice(document),
        )
    return exit_code(report.ended_by, usable=all(row["score"] is not None for row in document["results"]))
