"""``treadle search``: finds a structure and tests it honestly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.cli.given import given_options
from treadle.cli.help import add
from treadle.cli.options import Measuring
from treadle.errors import UnknownNameError, UserError

if TYPE_CHECKING:
    from treadle.ledger.session import Session
    from treadle.search.report import SearchReport
    from treadle.search.settings import SearchSettings

_EXAMPLE = """treadle search --space 'workflows:single,cot,self-consistency?n=5' --task gsm8k:test.jsonl --dry-run
treadle search --space 'workflows:single,cot,self-consistency?n=5' --task gsm8k:test.jsonl --model weak
treadle search --space workflows:cot,diverse --task math:test.jsonl --model weak --objective cheapest --margin 3
treadle search --space archon --task simulated:archon --max-evals 24"""
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
    schedule: Annotated[
        str, _option("--schedule", "default|paper", "Of bayes: a small start, or the paper's 240 random ones.", _COURSE)
    ] = "default"
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Search although a cap leaves too little.", rich_help_panel=_COURSE)
    ] = False
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
            schedule=self.schedule,  # pyright: ignore[reportArgumentType]  checked by the settings themselves
            anyway=self.anyway,
        )


def search(
    context: typer.Context,
    options: SearchOptions,
    space: Annotated[
        str | None, typer.Option("--space", metavar="SPACE", help="Such as workflows:single,cot.", show_default=False)
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="T", help="Such as gsm8k:test.jsonl; repeatable.", show_default=False),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", metavar="M", help="Who proposes: all, random, greedy, bayes, tpe.", show_default=False
        ),
    ] = None,
) -> int:
    """Find a structure, and say honestly whether it is better than the baselines.

    The task is split in three: searched on one part, chosen on the second, tested once on the third.
    """
    from treadle.cli.running import in_session

    if space is not None:
        _check_space(space)
    asked = _asked(space, task, method, options)
    resume, given = options.resume, given_options(context)
    if resume is None and not (space and task):
        missing = "--task" if space else "--space"
        raise UserError(f"missing option {missing}; `treadle search --help` shows how it is used")

    async def work(session: Session) -> int:
        known = asked if resume is None else await _begun(session, resume, asked, given)
        if options.dry_run:
            return await _estimate(session, known, options)
        return await _search(session, known, options)

    return in_session(options.config, work, keyless=options.dry_run, sandbox=options.sandbox)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "search", search, _EXAMPLE)


def _check_space(space: str) -> None:
    from treadle.search.spaces.open import space_kind

    try:
        space_kind(space)
    except UnknownNameError as error:
        if "did you mean" in str(error):
            raise
        names = space.partition(":")[2] or space
        raise UserError(f"unknown space {space!r}; to choose from workflows, write workflows:{names}") from None


def _asked(space: str | None, task: list[str] | None, method: str | None, options: SearchOptions) -> dict[str, Any]:
    """What is asked for, in the form in which the store keeps it; budgets apart."""
    from treadle.search.search import usual_method

    return {
        "space": space,
        "task": task,
        "method": method or (usual_method(space) if space else ""),
        "settings": asdict(options.settings()),
        "models": list(options.cast()),
        "roles": options.roles(),
        "limit": options.limit,
        "fresh": options.fresh,
        "seed": options.seed,
        "caps": asdict(options.caps()),
        "drop_bad_gold": options.drop_bad_gold,
    }


async def _begun(session: Session, run: str, wanted: dict[str, Any], given: dict[str, str]) -> dict[str, Any]:
    from treadle.cli.resumed import refuse_other
    from treadle.search.resume import read_asked

    begun = await read_asked(session, run)
    refuse_other(run, begun, wanted, given)
    return begun


async def _search(session: Session, asked: dict[str, Any], options: SearchOptions) -> int:
    from treadle.api import search as searched
    from treadle.cli.progress import progress_bar
    from treadle.search.resume import resume_search

    with progress_bar("search") as watch:
        if options.resume is not None:
            report = await resume_search(
                session, options.resume, budget=options.budget(), concurrency=options.concurrency, watch=watch
            )
        else:
            report = await searched(
                asked["space"],
                task=asked["task"],
                method=asked["method"],
                session=session,
                settings=options.settings(),
                watch=watch,
                **options.measuring(),
            )
    return _show(session, report, asked, options)


async def _estimate(session: Session, asked: dict[str, Any], options: SearchOptions) -> int:
    from treadle.cli.dry_run import show_estimate, would_record
    from treadle.cli.programs import say_programs
    from treadle.evaluation.preparing import prepare_cast, prepare_task
    from treadle.ledger.budget import Budget
    from treadle.search.estimate import estimate_search
    from treadle.search.settings import SearchSettings

    models, roles = asked["models"], asked["roles"]
    task = await prepare_task(session, asked["task"], limit=asked["limit"], drop_bad_gold=asked["drop_bad_gold"])
    found = await estimate_search(
        session,
        asked["space"],
        task=task,
        method=asked["method"],
        settings=SearchSettings(**asked["settings"]),
        models=models,
        roles=roles,
        caps=Budget(**asked["caps"]),
    )
    budget = Budget(**asked.get("budget", {})).merged(options.budget())
    cast = prepare_cast(session, asked["task"], models, roles)
    await would_record(session, "search", cast, budget, Budget(**asked["caps"]), task=task, resume=options.resume)
    say_programs(session, task, found.dearest)
    return show_estimate(found.document(), options, " + ".join(asked["task"]))


def _show(session: Session, report: SearchReport, asked: dict[str, Any], options: SearchOptions) -> int:
    from treadle.cli.codes import exit_code, explained
    from treadle.cli.output import print_json, print_text
    from treadle.cli.simulation import is_simulated, players

    document = report.document()
    if options.as_json:
        print_json(document)
    else:
        from treadle.cli import search_tables

        simulated = is_simulated(session, [*asked["task"], *players(session, asked["models"], asked["roles"])])
        title = " + ".join(asked["task"])
        print_text(search_tables.searched(document, title, simulated=simulated, message=report.message))
    code = exit_code(report.ended_by, usable=report.usable)
    reason = report.message or ("nothing was found" if document["best"] is None else "")
    return explained(code, report.ended_by, reason, as_json=options.as_json)
