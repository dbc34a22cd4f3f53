"""The options of ``treadle fix``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from treadle.cli.options import Asking

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
            help="A file for the patch besides the one in the run's folder.",
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
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="With --apply or --branch: also what fails its test, is not approved or was cut short.",
            rich_help_panel=_END,
        ),
    ] = False

    def where(self) -> list[str]:
        """Where the patch shall go in the user's repository, as options that ask for it."""
        return [flag for flag, given in (("--apply", self.apply), ("--branch", self.branch is not None)) if given]
