"""``treadle baseline``: what every structure has to beat, and how much of it is noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from treadle.cli.help import add
from treadle.cli.options import REPEATS, Measuring, Tasks

if TYPE_CHECKING:
    from treadle.ledger.session import Session

_EXAMPLE = "treadle baseline --task gsm8k:test.jsonl --model weak --limit 100"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineOptions(Measuring):
    """Options of ``treadle baseline``."""

    repeat: Annotated[
        int,
        typer.Option("--repeat", metavar="R", min=2, max=REPEATS, help="Answer every question so often; noise shows."),
    ] = 5
    margin: Annotated[float, typer.Option("--margin", metavar="POINTS", min=0, help="Points that do not matter.")] = 2.0


def baseline(task: Tasks, options: BaselineOptions) -> int:
    """Measure one call, chain of thought and self-consistency, and the noise floor.

    Ends with advice on what to try next.
    """
    from treadle.cli.running import in_session

    work = _estimate if options.dry_run else _baseline
    return in_session(
        options.config,
        lambda session: work(session, task, options),
        keyless=options.dry_run,
        sandbox=options.sandbox,
    )


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "baseline", baseline, _EXAMPLE)


async def _estimate(session: Session, task: list[str], options: BaselineOptions) -> int:
    from treadle.cli.dry_run import dry_run
    from treadle.evaluation.baseline import BASELINES
    from treadle.evaluation.preparing import prepare_task

    opened = await prepare_task(session, task, limit=options.limit, drop_bad_gold=options.drop_bad_gold)
    return await dry_run(session, "baseline", options, BASELINES, opened, options.repeat)


async def _baseline(session: Session, task: list[str], options: BaselineOptions) -> int:
    from treadle.api import baseline as measured
    from treadle.cli import wording
    from treadle.cli.codes import exit_code, explained
    from treadle.cli.output import print_json, print_text, say, screen_width
    from treadle.cli.partial import partial_rows
    from treadle.cli.progress import progress_bar
    from treadle.cli.simulation import is_simulated, named
    from treadle.cli.unusable import unusable_rows

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
    unusable = unusable_rows(report.report)
    if options.as_json:
        print_json(document)
        say(*map(str, unusable))
    else:
        from treadle.cli import judge_tables, tables, task_tables

        more = (task_tables.per_task(document["results"]), judge_tables.judged(document))
        partial = partial_rows(report.report)
        simulated = is_simulated(session, [*task, *named(session, options)])
        print_text(
            tables.measured(document, screen_width(), simulated, report.message, unusable, partial, more),
            tables.advice(document),
        )
    code = exit_code(report.ended_by, usable=report.report.usable)
    return explained(
        code, report.ended_by, report.message or wording.scored(document["results"]), as_json=options.as_json
    )
