"""``treadle eval``: workflows measured on a task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treadle.cli.given import given_options, refuse
from treadle.cli.help import add
from treadle.cli.options import REPEATS, Measuring, Tasks, Workflows, split_lists
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.evaluation.compare import ComparisonReport
    from treadle.evaluation.report import Report
    from treadle.ledger.session import Session

_EXAMPLE = """treadle eval single cot 'self-consistency?n=5' --task gsm8k:test.jsonl --model weak --limit 100
treadle eval cot --task gsm8k:test.jsonl --model weak --against RUN --fail-if worse"""
_GATE = "Gate"
_DIGITS = 10
_NO_VERDICT = "a verdict needs --against RUN to compare with"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions(Measuring):
    """Options of ``treadle eval``."""

    repeat: Annotated[
        int,
        typer.Option(
            "--repeat", metavar="R", min=1, max=REPEATS, help="Answer every question so often, with draws of its own."
        ),
    ] = 1
    pass_at: Annotated[
        str | None,
        typer.Option(
            "--pass-at",
            metavar="K,…",
            help="Also how often at least one of K answers is right; K is at most --repeat.",
            show_default=False,
        ),
    ] = None
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


def measure(context: typer.Context, workflows: Workflows, task: Tasks, options: EvalOptions) -> int:
    """Measure workflows on a task.

    One row each: score with interval, failures, calls, tokens, dollars and seconds.
    """
    from treadle.cli.running import in_session

    names = split_lists(workflows, "WORKFLOW")
    if options.against is None:
        _refuse_idle(given_options(context), names)
    elif len(names) > 1:
        raise UserError("--against compares one workflow with an earlier run; name one workflow")
    verdicts = _verdicts(options)
    _draws(options)
    return in_session(
        options.config,
        lambda session: _measure(session, names, task, options, verdicts),
        keyless=options.dry_run,
        sandbox=options.sandbox,
    )


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "eval", measure, _EXAMPLE)


def _refuse_idle(given: dict[str, str], names: tuple[str, ...]) -> None:
    """Without an earlier run there are verdicts only where modes of one workflow are measured together."""
    from treadle.evaluation.modes import held_against

    refuse(given, ("fail_if",), _NO_VERDICT)
    if not held_against(names)[1]:
        refuse(given, ("margin",), f"{_NO_VERDICT}, or manager-worker?mode=strong beside another mode")


def _verdicts(options: EvalOptions) -> tuple[str, ...]:
    from treadle.cli.gate import read_verdicts

    return () if options.fail_if is None else read_verdicts(options.fail_if)


def _draws(options: EvalOptions) -> tuple[int, ...]:
    """The numbers k of pass@k."""
    from treadle.evaluation.pass_at import allowed_draws

    words = () if options.pass_at is None else split_lists([options.pass_at], "--pass-at")
    if not all(word.isascii() and word.isdigit() and len(word) < _DIGITS for word in words):
        raise UserError(f"--pass-at takes whole numbers such as 1,3, not {options.pass_at!r}")
    return allowed_draws(map(int, words), options.repeat)


async def _measure(
    session: Session, names: tuple[str, ...], task: list[str], options: EvalOptions, verdicts: tuple[str, ...]
) -> int:
    from treadle.api import evaluate
    from treadle.cli import gate, wording
    from treadle.cli.codes import exit_code, explained
    from treadle.cli.dry_run import dry_run
    from treadle.cli.progress import progress_bar
    from treadle.evaluation.preparing import open_unchecked, prepare_task

    asked = options.measuring()
    earlier = None
    if options.against is not None:
        opened = open_unchecked(task, options.limit, drop_bad_gold=options.drop_bad_gold)
        earlier = await gate.read_earlier(session, options.against, names[0], opened)
    if options.dry_run:
        opened = await prepare_task(session, task, limit=options.limit, drop_bad_gold=options.drop_bad_gold)
        return await dry_run(session, "eval", options, names, opened, options.repeat)
    with progress_bar("eval") as watch:
        report = await evaluate(
            *names,
            task=task,
            session=session,
            repeat=options.repeat,
            pass_at=_draws(options),
            margin=options.margin,
            watch=watch,
            **asked,
        )
    found = None if earlier is None else await gate.against(session, report, earlier, options.margin)
    _show(session, report, found, task, options)
    objection = gate.objection(found, verdicts)
    code = exit_code(report.ended_by, usable=not objection and report.usable)
    reason = objection or report.message or wording.scored(report.results)
    return explained(code, report.ended_by, reason, as_json=options.as_json)


def _show(
    session: Session, report: Report, found: ComparisonReport | None, task: list[str], options: EvalOptions
) -> None:
    from treadle.cli.output import print_json, print_text, say, screen_width
    from treadle.cli.partial import partial_rows
    from treadle.cli.simulation import is_simulated, named
    from treadle.cli.unusable import unusable_rows

    document = report.document()
    unusable = unusable_rows(report)
    if options.as_json:
        if options.against is not None:
            document["against"] = None if found is None else found.document()
        print_json(document)
        say(*map(str, unusable))
        return
    from treadle.cli import judge_tables, pass_tables, role_tables, tables, task_tables

    simulated = is_simulated(session, [*task, *named(session, options)])
    more = (
        pass_tables.pass_at(document["results"]),
        task_tables.per_task(document["results"]),
        judge_tables.judged(document),
        role_tables.spending(document, Path.cwd()),
    )
    print_text(
        tables.measured(document, screen_width(), simulated, report.message, unusable, partial_rows(report), more)
    )
    if found is not None:
        print_text("", tables.compared(found.document()))
