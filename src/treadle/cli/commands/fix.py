"""``treadle fix``: a patch for an issue of a repository."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.cli.help import add
from treadle.cli.options import Asking
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.fixing.report import FixReport
    from treadle.ledger.session import Session
    from treadle.workflows.manager_worker.workflow import ManagerWorker
    from treadle.workspaces.base import Repository

_EXAMPLE = """treadle fix --repo . --issue issue.md --manager big --worker small --test "python -m pytest -q"
treadle fix --repo . --issue - --mode weak --branch fix/empty-list < issue.md"""
_HOW, _REPOSITORY, _END = "How", "Repository", "The patch"


def _limit(flag: str, what: str, kind: str = "N", least: float = 1) -> Any:
    return typer.Option(flag, metavar=kind, min=least, help=what, rich_help_panel=_HOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixOptions(Asking):
    """Options of ``treadle fix``."""

    manager: Annotated[
        str | None,
        typer.Option(
            "--manager", metavar="M", help="The strong model; role strong where not given.", show_default=False
        ),
    ] = None
    worker: Annotated[
        str | None,
        typer.Option(
            "--worker",
            metavar="M",
            help="The model that works (role weak where not given), or module:function of your own.",
            show_default=False,
        ),
    ] = None
    mode: Annotated[
        str,
        typer.Option("--mode", help="full, simple-loop, strong, weak or weak-weak.", rich_help_panel=_HOW),
    ] = "full"
    strategy: Annotated[
        str, typer.Option("--strategy", help="guided-strict, strict or guided.", rich_help_panel=_HOW)
    ] = "guided-strict"
    strict_from: Annotated[
        str,
        typer.Option(
            "--strict-from", help="What a strict round begins with: previous files or clean ones.", rich_help_panel=_HOW
        ),
    ] = "previous"
    explorations: Annotated[int, _limit("--explorations", "Rounds of exploration at most.", least=0)] = 3
    rounds: Annotated[int, _limit("--rounds", "Rounds of implementation at most.")] = 3
    steps: Annotated[int, _limit("--steps", "Replies of the worker in a round at most.")] = 40
    approve_plan: Annotated[
        bool,
        typer.Option(
            "--approve-plan", help="Open the plan in $EDITOR before anything is implemented.", rich_help_panel=_HOW
        ),
    ] = False
    setup: Annotated[
        str,
        typer.Option(
            "--setup",
            metavar="CMD",
            help="Makes a copy ready, such as an install.",
            rich_help_panel=_REPOSITORY,
            show_default=False,
        ),
    ] = ""
    test: Annotated[
        str,
        typer.Option(
            "--test",
            metavar="CMD",
            help="Says by its exit code whether a copy works.",
            rich_help_panel=_REPOSITORY,
            show_default=False,
        ),
    ] = ""
    network: Annotated[
        str,
        typer.Option(
            "--network", help="When commands may reach the network: off, setup or on.", rich_help_panel=_REPOSITORY
        ),
    ] = "off"
    readable: Annotated[
        list[Path],
        typer.Option(
            "--readable",
            metavar="PATH",
            help="A further file or folder that commands may read; repeatable.",
            rich_help_panel=_REPOSITORY,
            show_default=False,
        ),
    ] = field(default_factory=list[Path])
    command_seconds: Annotated[
        float,
        typer.Option(
            "--command-seconds", metavar="S", min=1, help="Wall clock of one command.", rich_help_panel=_REPOSITORY
        ),
    ] = 60.0
    test_seconds: Annotated[
        float,
        typer.Option(
            "--test-seconds", metavar="S", min=1, help="Wall clock of set-up and test.", rich_help_panel=_REPOSITORY
        ),
    ] = 900.0
    keep_tests: Annotated[
        bool, typer.Option("--keep-tests", help="Leave changes of test files in the patch.", rich_help_panel=_END)
    ] = False
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where the patch goes; else to the run's folder.",
            rich_help_panel=_END,
            show_default=False,
        ),
    ] = None
    apply: Annotated[
        bool,
        typer.Option(
            "--apply", help="Apply the patch to the repository; not where it has changes.", rich_help_panel=_END
        ),
    ] = False
    branch: Annotated[
        str | None,
        typer.Option(
            "--branch",
            metavar="NAME",
            help="Commit the patch on a new branch; files stay.",
            rich_help_panel=_END,
            show_default=False,
        ),
    ] = None


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

    text = _issue(issue)
    settings = _settings(options)
    repository = _repository(repo, options)
    _check_output(options.output)
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

    return ManagerWorker(
        mode=options.mode,  # pyright: ignore[reportArgumentType]  refused with the words that would do
        strategy=options.strategy,  # pyright: ignore[reportArgumentType]
        strict_from=options.strict_from,  # pyright: ignore[reportArgumentType]
        explorations=options.explorations,
        rounds=options.rounds,
        steps=options.steps,
    )


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


def _check_output(output: Path | None) -> None:
    if output is None:
        return
    if output.is_dir():
        raise UserError(f"-o {output} is a folder; name the file that the patch goes to")
    if not output.parent.is_dir():
        raise UserError(f"-o {output}: the folder {output.parent} does not exist")


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
            output=options.output,
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
    from treadle.cli import fix_screen
    from treadle.cli.codes import exit_code, explained
    from treadle.cli.output import print_json, print_text
    from treadle.cli.simulation import is_simulated
    from treadle.fixing.delivery import deliver

    document = report.document()
    finished = report.ended_by in ("done", "infra") and bool(report.patch)
    if finished:
        document |= await deliver(repository.path, report, issue, apply=options.apply, branch=options.branch)
    if options.as_json:
        print_json(document)
    else:
        simulated = is_simulated(session, report.models.values())
        print_text(fix_screen.fixed(document, simulated=simulated))
    code = exit_code(report.ended_by, usable=report.status == "patched")
    reason = report.message or {"empty": "no file was changed", "failed": "it failed"}.get(report.status, "")
    return explained(code, report.ended_by, reason, as_json=options.as_json)
