"""``treadle compare``: two runs or workflows on the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from treadle.cli.given import given_options, refuse
from treadle.cli.help import add
from treadle.cli.options import REPEATS, Measuring
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.ledger.session import Session

_EXAMPLE = """treadle compare RUN/cot RUN/single
treadle compare cot single --task gsm8k:test.jsonl --model weak"""
_FOR_RUNS = ("as_json", "config", "margin")
"""What comparing finished runs takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(Measuring):
    """Options of ``treadle compare``."""

    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="T", help="Measure two workflows on it first.", show_default=False),
    ] = None
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="R", min=1, max=REPEATS, help="Answer every question so often.")
    ] = 1
    margin: Annotated[float, typer.Option("--margin", metavar="POINTS", min=0, help="Points that do not matter.")] = 2.0


def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", help="RUN, RUN/WORKFLOW or, with --task, a workflow.")],
    b: Annotated[str, typer.Argument(metavar="B", help="What A is compared with.")],
    options: CompareOptions,
) -> int:
    """Compare two runs or workflows, question by question.

    The difference is A − B in points, with its interval and a verdict.
    """
    from treadle.cli.running import in_session

    if not options.task:
        given = given_options(context)
        refuse(given, set(given) - {*_FOR_RUNS}, "finished runs are compared as they are; measuring needs --task T")
        _refuse_workflows(a, b)
    return in_session(
        options.config,
        lambda session: _compare(session, a, b, options),
        keyless=options.dry_run,
        sandbox=options.sandbox,
    )


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "compare", compare, _EXAMPLE)


def _refuse_workflows(*names: str) -> None:
    from treadle.workflows.registry import WORKFLOWS

    for name in names:
        if name.partition("?")[0] in WORKFLOWS:
            raise UserError(f"unknown run {name!r}: it is a workflow; add --task T to compare workflows")


async def _compare(session: Session, a: str, b: str, options: CompareOptions) -> int:
    from treadle.api import compare as compared
    from treadle.cli import wording
    from treadle.cli.codes import exit_code, explained
    from treadle.cli.output import print_json, print_text
    from treadle.cli.progress import progress_bar

    if options.task and options.dry_run:
        return await _estimate(session, a, b, options.task, options)
    if options.task:
        with progress_bar("compare") as watch:
            measuring = {**options.measuring(), "repeat": options.repeat, "watch": watch}
            report = await compared(a, b, task=options.task, session=session, margin=options.margin, **measuring)
    else:
        report = await compared(a, b, session=session, margin=options.margin)
    document = report.document()
    if options.as_json:
        print_json(document)
    else:
        from treadle.cli import tables

        print_text(tables.compared(document))
        if report.ended_by != "done" or report.leaks:
            print_text(tables.ending(report.ended_by, report.message))
    code = exit_code(report.ended_by, usable=report.usable)
    n: int = document["n"]
    reason = report.message or (f"{wording.plural(n, 'question')} compared" if n else "no question was compared")
    return explained(code, report.ended_by, reason, as_json=options.as_json)


async def _estimate(session: Session, a: str, b: str, task: list[str], options: CompareOptions) -> int:
    from treadle.cli.dry_run import dry_run
    from treadle.evaluation.preparing import prepare_task

    opened = await prepare_task(session, task, limit=options.limit, drop_bad_gold=options.drop_bad_gold)
    return await dry_run(session, "compare", options, (a, b), opened, options.repeat)
