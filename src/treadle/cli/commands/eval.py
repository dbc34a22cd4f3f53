"""``treadle eval``: workflows measured on a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from treadle.cli.help import add
from treadle.cli.options import Measuring, Tasks, Workflows, split_list, split_lists
from treadle.errors import UnknownNameError, UserError

if TYPE_CHECKING:
    from treadle.evaluation.compare import ComparisonReport
    from treadle.evaluation.measured import Measured
    from treadle.evaluation.report import Report
    from treadle.ledger.session import Session
    from treadle.tasks.task import Task

_EXAMPLE = """treadle eval single cot 'self-consistency?n=5' --task gsm8k:test.jsonl --model weak --limit 100
treadle eval cot --task gsm8k:test.jsonl --model weak --against RUN --fail-if worse"""
_GATE = "Gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions(Measuring):
    """Options of ``treadle eval``."""

    repeat: Annotated[
        int, typer.Option("--repeat", metavar="R", min=1, help="Answer every question so often, with draws of its own.")
    ] = 1
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="RUN",
            help="Compare with an earlier run (RUN or RUN/WORKFLOW) on the same samples.",
            show_default=False,
            rich_help_panel=_GATE,
        ),
    ] = None
    fail_if: Annotated[
        str | None,
        typer.Option(
            "--fail-if",
            metavar="V,…",
            help="Exit with 1 on these verdicts, such as worse,inconclusive.",
            show_default=False,
            rich_help_panel=_GATE,
        ),
    ] = None
    margin: Annotated[
        float,
        typer.Option("--margin", metavar="POINTS", min=0, help="Points that do not matter.", rich_help_panel=_GATE),
    ] = 2.0


def measure(workflows: Workflows, task: Tasks, options: EvalOptions) -> int:
    """Measure workflows on a task.

    One row each: score with interval, failures, calls, tokens, dollars and seconds.
    """
    from treadle.cli.dry_run import dry_run
    from treadle.cli.running import in_session

    names = split_lists(workflows, "WORKFLOW")
    verdicts = _verdicts(options, names)
    if options.dry_run:
        return in_session(options.config, lambda session: dry_run(session, options, names, task, options.repeat))
    return in_session(options.config, lambda session: _measure(session, names, task, options, verdicts))


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "eval", measure, _EXAMPLE)


def _verdicts(options: EvalOptions, names: Sequence[str]) -> tuple[str, ...]:
    if options.against is not None and len(names) > 1:
        raise UserError("--against compares one workflow with an earlier run; name one workflow")
    if options.fail_if is None:
        return ()
    if options.against is None:
        raise UserError("--fail-if needs --against RUN: a verdict is about a difference from something")
    from treadle.evaluation.statistics.paired import Verdict

    verdicts = split_list(options.fail_if, "--fail-if")
    for verdict in verdicts:
        if verdict not in get_args(Verdict):
            raise UnknownNameError("verdict", verdict, get_args(Verdict))
    return verdicts


async def _measure(
    session: Session, names: tuple[str, ...], task: list[str], options: EvalOptions, verdicts: tuple[str, ...]
) -> int:
    from treadle.api import evaluate
    from treadle.cli.codes import UNUSABLE, exit_code
    from treadle.cli.progress import progress_bar
    from treadle.evaluation.compare import compare_measured
    from treadle.evaluation.measured import read_measured
    from treadle.evaluation.preparing import prepare_task

    asked = options.measuring()
    opened = await prepare_task(session, task, limit=asked.pop("limit"), drop_bad_gold=asked.pop("drop_bad_gold"))
    earlier = None if options.against is None else await _earlier(session, options.against, names[0], opened)
    with progress_bar("eval") as watch:
        report = await evaluate(*names, task=opened, session=session, repeat=options.repeat, watch=watch, **asked)
    found = None
    if earlier is not None and report.ended_by == "done":
        mine = await read_measured(session, f"{report.run}/{report.rows[0].workflow}")
        found = compare_measured(mine, earlier, options.margin)
    _show(session, report, found, task, options)
    code = exit_code(report.ended_by, usable=all(row.score is not None for row in report.rows))
    return UNUSABLE if code == 0 and found is not None and found.comparison.verdict in verdicts else code


async def _earlier(session: Session, address: str, name: str, task: Task) -> Measured:
    """The row to compare with; what cannot be compared is refused before a call is made."""
    from treadle.evaluation.measured import find_run, read_measured
    from treadle.evaluation.preparing import prepare_workflows

    if "/" not in address:
        await session.journal.read(lambda store: find_run(store, address))
        samples = await session.journal.read(lambda store: store.samples(address))
        workflow = prepare_workflows([name])[0].name
        if len({sample.workflow for sample in samples}) > 1 and workflow in {sample.workflow for sample in samples}:
            address = f"{address}/{workflow}"
    earlier = await read_measured(session, address)
    if not any(sample.id in earlier.scores for sample in task.samples):
        raise UserError(f"{earlier.address} was measured on {earlier.task} and shares no question with {task.name}")
    return earlier


def _show(
    session: Session, report: Report, found: ComparisonReport | None, task: list[str], options: EvalOptions
) -> None:
    from treadle.cli.output import print_json, print_text, screen_width
    from treadle.cli.simulation import is_simulated, named

    document = report.document()
    if options.as_json:
        if options.against is not None:
            document["against"] = None if found is None else found.document()
        print_json(document)
        return
    from treadle.cli import tables

    simulated = is_simulated(session, [*task, *named(session, options)])
    print_text(tables.measured(document, width=screen_width(), simulated=simulated, message=report.message))
    if found is not None:
        print_text("", tables.compared(found.document()))
