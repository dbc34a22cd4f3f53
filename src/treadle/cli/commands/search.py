"""``treadle search``: finds a structure and tests it honestly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.cli.help import add
from treadle.cli.options import Measuring
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.ledger.session import Session
    from treadle.search.report import SearchReport
    from treadle.search.settings import SearchSettings

_EXAMPLE = """treadle search --space 'workflows:single,cot,self-consistency?n=5' --task gsm8k:test.jsonl --dry-run
treadle search --space 'workflows:single,cot,self-consistency?n=5' --task gsm8k:test.jsonl --model weak
treadle search --space workflows:cot,diverse --task math:test.jsonl --model weak --objective cheapest --margin 3"""
_GOAL, _COURSE, _TEST = "Goal", "Course", "Test"


def _option(flag: str, metavar: str, text: str, panel: str, **settings: Any) -> Any:
    return typer.Option(flag, metavar=metavar, help=text, rich_help_panel=panel, **settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions(Measuring):
    """Options of ``treadle search``."""

    objective: Annotated[
        str, _option("--objective", "score|cheapest", "Cheapest: not worse than the best by more than margin.", _GOAL)
    ] = "score"
    weight: Annotated[
        float, _option("--lambda", "L", "Weight of cost: score − L·cost per question, score 0 to 1.", _GOAL)
    ] = 0.0
    cost_unit: Annotated[
        str | None, _option("--cost-unit", "usd|tokens|calls|seconds", "What cost is.", _GOAL, show_default=False)
    ] = None
    margin: Annotated[float, _option("--margin", "POINTS", "Points that do not matter.", _GOAL)] = 2.0
    max_evals: Annotated[
        int | None, _option("--max-evals", "N", "Structures evaluated at most.", _COURSE, show_default=False)
    ] = None
    batch: Annotated[int, _option("--batch", "B", "A proposal sees the results up to B before it.", _COURSE)] = 8
    block: Annotated[
        int | None, _option("--block", "N", "Questions between two decisions of the race.", _COURSE, show_default=False)
    ] = None
    race: Annotated[
        bool, typer.Option("--race/--no-race", help="Stop hopeless structures early.", rich_help_panel=_COURSE)
    ] = True
    search_repeat: Annotated[int, _option("--search-repeat", "R", "Draws of every search question.", _COURSE)] = 1
    resume: Annotated[
        str | None, _option("--resume", "RUN", "Go on with a run that was ended.", _COURSE, show_default=False)
    ] = None
    test_repeat: Annotated[int, _option("--test-repeat", "R", "Fresh draws of every test question.", _TEST)] = 3
    split_seed: Annotated[
        int | None,
        _option("--split-seed", "S", "Instead of the data's hash, for the split.", _TEST, show_default=False),
    ] = None

    def settings(self) -> SearchSettings:
        """The library's settings.

        Raises:
            UserError: When one cannot be.
        """
        from treadle.search.settings import SearchSettings

        return SearchSettings(
            max_evals=self.max_evals,
            weight=self.weight,
            cost_unit=self.cost_unit,  # pyright: ignore[reportArgumentType]  checked by the settings themselves
            margin=self.margin,
            objective=self.objective,  # pyright: ignore[reportArgumentType]  checked by the settings themselves
            batch=self.batch,
            block=self.block,
            race=self.race,
            test_repeat=self.test_repeat,
            split_seed=self.split_seed,
            search_repeat=self.search_repeat,
        )


def search(
    options: SearchOptions,
    space: Annotated[
        str | None, typer.Option("--space", metavar="SPACE", help="Such as workflows:single,cot.", show_default=False)
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="T", help="Such as gsm8k:test.jsonl; repeatable.", show_default=False),
    ] = None,
    method: Annotated[str, typer.Option("--method", metavar="M", help="Who proposes: all or random.")] = "all",
) -> int:
    """Find a structure, and say honestly whether it is better than the baselines.

    The task is split in three: searched on one part, chosen on the second, tested once on the third.
    """
    from treadle.cli.running import in_session

    options.settings()
    resume = options.resume
    if resume is not None:
        return in_session(options.config, lambda session: _resume(session, resume, options))
    if not space or not task:
        missing = "--task" if space else "--space"
        raise UserError(f"missing option {missing}; `treadle search --help` shows how it is used")
    return in_session(options.config, lambda session: _search(session, space, task, method, options))


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "search", search, _EXAMPLE)


async def _search(session: Session, space: str, task: list[str], method: str, options: SearchOptions) -> int:
    from treadle.api import search as searched
    from treadle.cli.progress import progress_bar

    if options.dry_run:
        return await _estimate(session, space, task, method, options)
    with progress_bar("search") as watch:
        report = await searched(
            space,
            task=task,
            method=method,
            session=session,
            settings=options.settings(),
            watch=watch,
            **options.measuring(),
        )
    return _show(session, report, task, options)


async def _resume(session: Session, run: str, options: SearchOptions) -> int:
    from treadle.cli.progress import progress_bar
    from treadle.search.resume import resume_search

    with progress_bar("search") as watch:
        report = await resume_search(session, run, budget=options.budget(), watch=watch)
    return _show(session, report, [report.task], options)


async def _estimate(session: Session, space: str, task: list[str], method: str, options: SearchOptions) -> int:
    from treadle.cli.output import print_json, print_text
    from treadle.search.estimate import estimate_search

    estimate = await estimate_search(
        session,
        space,
        task=task,
        method=method,
        settings=options.settings(),
        models=options.cast(),
        roles=options.roles(),
        limit=options.limit,
        drop_bad_gold=options.drop_bad_gold,
    )
    if options.as_json:
        print_json(estimate.document())
    else:
        from treadle.cli import tables

        print_text(tables.estimated(estimate.document(), " + ".join(task)))
    return 0


def _show(session: Session, report: SearchReport, task: list[str], options: SearchOptions) -> int:
    from treadle.cli.codes import exit_code
    from treadle.cli.output import print_json, print_text
    from treadle.cli.simulation import is_simulated, named

    document = report.document()
    code = exit_code(report.ended_by, usable=document["best"] is not None)
    if options.as_json:
        print_json(document)
        return code
    from treadle.cli import search_tables

    simulated = is_simulated(session, [*task, *named(session, options)])
    title = " + ".join(task)
    print_text(search_tables.searched(document, title, simulated=simulated, message=report.message))
    return code
