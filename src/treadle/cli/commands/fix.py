"""``treadle fix``: a patch for an issue of a repository."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.cli.fix_options import FixOptions
from treadle.cli.help import add
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.fixing.report import FixReport
    from treadle.ledger.session import Session
    from treadle.workflows.manager_worker.workflow import ManagerWorker
    from treadle.workspaces.base import Repository

_EXAMPLE = """treadle fix --repo . --issue issue.md --manager big --worker small --test "python -m pytest -q"
treadle fix --repo . --issue - --mode weak --branch fix/empty-list < issue.md"""
_PLANNING = ("full", "weak-weak")


def fix(
    repo: Annotated[Path, typer.Option("--repo", metavar="DIR", help="The repository; it is never written to.")],
    issue: Annotated[str, typer.Option("--issue", metavar="FILE", help="The issue's text; - reads it from stdin.")],
    options: FixOptions,
) -> int:
    """Resolve an issue of a repository.

    A strong model reads and directs, a cheap one works in a copy. Prints plan, rounds and the patch, which is taken
    from the files and left in a file.
    """
    from treadle.cli.running import in_session
    from treadle.fixing.keeping import check_output

    text = _issue(issue)
    settings = _settings(options)
    repository = _repository(repo, options)
    check_output(options.output, None if issue == "-" else Path(issue))
    return in_session(
        options.config,
        lambda session: _fix(session, repository, text, settings, options),
        keyless=options.dry_run,
        sandbox=options.sandbox,
    )


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "fix", fix, _EXAMPLE)


def _issue(issue: str) -> str:
    from treadle.fixing.repositories import issue_text, read_issue

    return issue_text(sys.stdin.buffer.read(), "the issue on stdin") if issue == "-" else read_issue(Path(issue))


def _settings(options: FixOptions) -> ManagerWorker:
    from treadle.workflows.manager_worker.workflow import ManagerWorker

    settings = ManagerWorker(
        mode=options.mode,  # pyright: ignore[reportArgumentType]  refused with the words that would do
        strategy=options.strategy,  # pyright: ignore[reportArgumentType]
        strict_from=options.strict_from,  # pyright: ignore[reportArgumentType]
        explorations=options.explorations,
        rounds=options.rounds,
        steps=options.steps,
    )
    if options.approve_plan and settings.mode not in _PLANNING:
        raise UserError(f"--approve-plan: --mode {settings.mode} has no plan; {' and '.join(_PLANNING)} have one")
    return settings


def _repository(repo: Path, options: FixOptions) -> Repository:
    from treadle.fixing.repositories import named_repository
    from treadle.workspaces.base import NETWORKS, Network, Repository

    if options.network not in NETWORKS:
        raise UserError(f"--network must be {', '.join(NETWORKS)}, not {options.network!r}")
    network: Network = next(each for each in NETWORKS if each == options.network)
    for path in options.readable:
        if not path.exists():
            raise UserError(f"--readable {path} does not exist")
    given = Repository(
        repo,
        setup=options.setup.strip(),
        test=options.test.strip(),
        readable=tuple(path.absolute() for path in options.readable),
        network=network,
        keep_tests=options.keep_tests,
        command_seconds=options.command_seconds,
        test_seconds=options.test_seconds,
    )
    return named_repository(given)


async def _fix(
    session: Session, repository: Repository, issue: str, settings: ManagerWorker, options: FixOptions
) -> int:
    from treadle.cli.fix_progress import watched_course
    from treadle.cli.fix_roles import who_plays
    from treadle.fixing.delivery import check_delivery
    from treadle.fixing.fix import fix as fixed

    models, roles, worker = who_plays(session, options.manager, options.worker, options.cast(), options.roles())
    await check_delivery(repository.path, apply=options.apply, branch=options.branch)
    if options.dry_run:
        return await _dry(session, repository, issue, settings, (models, roles), options)
    asking: dict[str, Any] = {**options.asking(), "models": models, "roles": roles}
    with watched_course(approve=options.approve_plan) as course:
        report = await fixed(
            session,
            repository,
            issue,
            settings=settings,
            worker=worker,
            **asking,
            course=course,
        )
    return await _show(session, repository, issue, report, options)


async def _dry(
    session: Session,
    repository: Repository,
    issue: str,
    settings: ManagerWorker,
    players: tuple[tuple[str, ...], dict[str, str]],
    options: FixOptions,
) -> int:
    from dataclasses import replace

    from treadle.cli.dry_run import dry_answer
    from treadle.tasks.base import Sample

    models, roles = players
    asking = replace(options, model=None, models=",".join(models) or None, role=[f"{k}={v}" for k, v in roles.items()])
    return await dry_answer(session, asking, settings.workflow.name, Sample(repository.path.name, issue))


async def _show(session: Session, repository: Repository, issue: str, report: FixReport, options: FixOptions) -> int:
    """Print the report, whatever becomes of its patch; gives the exit code."""
    from treadle.cli import fix_screen
    from treadle.cli.codes import exit_code
    from treadle.cli.fix_delivery import delivered
    from treadle.cli.output import print_json, print_text, say
    from treadle.cli.simulation import is_simulated

    done, failure = await delivered(repository, issue, report, options)
    document = report.document() | done
    if options.as_json:
        print_json(document)
    else:
        simulated = is_simulated(session, report.models.values())
        print_text(fix_screen.fixed(document, repository.path, doubt=report.doubt, simulated=simulated))
    if failure is not None:
        raise failure
    code = exit_code(report.ended_by, usable=report.status == "patched" and not done.get("not_delivered"))
    if options.as_json and code:
        say(fix_screen.why(document))
    return code
