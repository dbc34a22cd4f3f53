"""``treadle compare``: two runs or workflows on the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from treadle.cli.help import add
from treadle.cli.options import Measuring
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.ledger.session import Session

_EXAMPLE = """treadle compare RUN/cot RUN/single
treadle compare cot single --task gsm8k:test.jsonl --model weak"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(Measuring):
    """Options of ``treadle compare``."""

    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="T", help="Measure two workflows on it first.", show_default=False),
    ] = None
    repeat: Annotated[int, typer.Option("--repeat", metavar="R", min=1, help="Answer every question so often.")] = 1
    margin: Annotated[float, typer.Option("--margin", metavar="POINTS", min=0, help="Points that do not matter.")] = 2.0


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="RUN, RUN/WORKFLOW or, with --task, a workflow.")],
    b: Annotated[str, typer.Argument(metavar="B", help="What A is compared with.")],
    options: CompareOptions,
) -> int:
    """Compare two runs or workflows, question by question.

    The difference is A − B in points, with its interval and a verdict.
    """
    from treadle.cli.running import in_session

    if options.dry_run:
        if not options.task:
            raise UserError("comparing finished runs costs nothing; --dry-run belongs to --task")
        from treadle.cli.dry_run import dry_run

        tasks = options.task
        return in_session(options.config, lambda session: dry_run(session, options, (a, b), tasks, options.repeat))
    return in_session(options.config, lambda session: _compare(session, a, b, options))


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "compare", compare, _EXAMPLE)


async def _compare(session: Session, a: str, b: str, options: CompareOptions) -> int:
    from treadle.api import compare as compared
    from treadle.cli.codes import exit_code
    from treadle.cli.output import print_json, print_text
    from treadle.cli.progress import progress_bar

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

        print_text(tables.compared(document), tables.ending(report.ended_by, report.message))
    return exit_code(report.ended_by, usable=document["n"] > 0)
