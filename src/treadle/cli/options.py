"""The options that commands share, once each: frozen dataclasses that `flattened` spreads over a command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.config import SANDBOX_KINDS
from treadle.errors import UserError
from treadle.ledger.keys import MAX_REPEATS

if TYPE_CHECKING:
    from treadle.ledger.budget import Budget

REPEATS = MAX_REPEATS - 1
"""The most repeats of a question."""
_MODELS, _BUDGET, _DRAWS, _PROGRAMS = "Models", "Budgets", "Draws", "Programs"


def _cap(flag: str, what: str, kind: str = "N") -> Any:
    return typer.Option(flag, metavar=kind, min=0, help=what, show_default=False, rich_help_panel=_BUDGET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What every command takes."""

    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")] = False
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Instead of the treadle.toml found upwards.", show_default=False),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(Common):
    """What every command that can call a model takes."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="M",
            help="An alias of treadle.toml, or provider:model.",
            show_default=False,
            rich_help_panel=_MODELS,
        ),
    ] = None
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            metavar="A,B,…",
            help="Several, the strong one first.",
            show_default=False,
            rich_help_panel=_MODELS,
        ),
    ] = None
    role: Annotated[
        list[str],
        typer.Option(
            "--role",
            metavar="NAME=ALIAS",
            help="Who plays a role, such as judge=big; repeatable.",
            show_default=False,
            rich_help_panel=_MODELS,
        ),
    ] = field(default_factory=list[str])
    budget_usd: Annotated[float | None, _cap("--budget-usd", "Dollars the run may spend.", "USD")] = None
    budget_calls: Annotated[int | None, _cap("--budget-calls", "Calls the run may pay for.")] = None
    budget_tokens: Annotated[int | None, _cap("--budget-tokens", "Tokens the run may pay for.")] = None
    budget_seconds: Annotated[float | None, _cap("--budget-seconds", "Wall clock of the run.", "S")] = None
    max_calls_per_sample: Annotated[int | None, _cap("--max-calls-per-sample", "Calls of one question.")] = None
    max_usd_per_sample: Annotated[float | None, _cap("--max-usd-per-sample", "Dollars of one question.", "USD")] = None
    max_seconds_per_sample: Annotated[
        float | None, _cap("--max-seconds-per-sample", "Wall clock of one question.", "S")
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what it would cost, low and high; spend nothing.", rich_help_panel=_BUDGET),
    ] = False
    seed: Annotated[
        int,
        typer.Option(
            "--seed", metavar="S", help="For a workflow's own chance; never draws or splits.", rich_help_panel=_DRAWS
        ),
    ] = 0
    fresh: Annotated[
        int,
        typer.Option(
            "--fresh",
            metavar="N",
            min=0,
            help="Take the N-th family of draws: new replies instead of cached ones.",
            rich_help_panel=_DRAWS,
        ),
    ] = 0
    sandbox: Annotated[
        str | None,
        typer.Option(
            "--sandbox",
            metavar="KIND",
            help=f"What programs run in: {', '.join(SANDBOX_KINDS[:-1])}; none: unprotected.",
            show_default=False,
            rich_help_panel=_PROGRAMS,
        ),
    ] = None

    def cast(self) -> tuple[str, ...]:
        """The models given, the strong one first.

        Raises:
            UserError: When both ways of naming them are used, or a name is empty.
        """
        if self.model is not None and self.models is not None:
            raise UserError("--model and --models say the same thing; give one of them")
        if self.models is not None:
            return split_lists([self.models], "--models")
        if self.model is None:
            return ()
        if not self.model.strip():
            raise UserError("--model is empty; name an alias of treadle.toml or provider:model")
        return (self.model.strip(),)

    def roles(self) -> dict[str, str]:
        """Role name to alias.

        Raises:
            UserError: When one is not NAME=ALIAS, or named twice.
            UnknownNameError: When there is no such role.
        """
        return read_roles(self.role)

    def budget(self) -> Budget:
        """Caps of the whole run."""
        from treadle.ledger.budget import Budget

        return Budget(self.budget_usd, self.budget_calls, self.budget_tokens, self.budget_seconds)

    def caps(self) -> Budget:
        """Caps of one question."""
        from treadle.ledger.budget import Budget

        return Budget(self.max_usd_per_sample, self.max_calls_per_sample, None, self.max_seconds_per_sample)

    def asking(self) -> dict[str, Any]:
        """The library's arguments for all of these but ``dry_run`` and ``sandbox``."""
        return {
            "models": self.cast(),
            "roles": self.roles(),
            "seed": self.seed,
            "fresh": self.fresh,
            "budget": self.budget(),
            "caps": self.caps(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring(Asking):
    """What every command that measures on a task takes."""

    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="The first N samples.", show_default=False)
    ] = None
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", metavar="N", min=1, help="Questions in flight at once.", show_default=False),
    ] = None
    drop_bad_gold: Annotated[
        bool,
        typer.Option("--drop-bad-gold", help="Leave out samples whose own reference is graded wrong."),
    ] = False

    def measuring(self) -> dict[str, Any]:
        """The library's arguments for all of these but ``dry_run`` and ``sandbox``."""
        return self.asking() | {
            "limit": self.limit,
            "concurrency": self.concurrency,
            "drop_bad_gold": self.drop_bad_gold,
        }


Workflows = Annotated[
    list[str],
    typer.Argument(metavar="WORKFLOW", help="Such as single, cot or 'self-consistency?n=5'; comma lists too."),
]
Tasks = Annotated[
    list[str],
    typer.Option("--task", metavar="T", help="Such as gsm8k:test.jsonl; repeatable.", show_default=False),
]


def split_lists(texts: Iterable[str], what: str) -> tuple[str, ...]:
    """The parts of several comma lists, in order.

    Raises:
        UserError: When a part is empty or a bracket stands alone.
    """
    from treadle.workflows.settings import split_specs

    return tuple(name for text in texts for name in split_specs(text, what))


def read_roles(given: Iterable[str]) -> dict[str, str]:
    """Role name to alias, from ``NAME=ALIAS`` texts; ``optimizer`` is ``optimiser``."""
    from treadle.config import canonical_role

    roles: dict[str, str] = {}
    for text in given:
        name, equals, alias = (part.strip() for part in text.partition("="))
        if not equals or not name or not alias:
            raise UserError(f"--role {text!r} is not NAME=ALIAS; write for example --role judge=big")
        role = canonical_role(name)
        if roles.get(role, alias) != alias:
            raise UserError(f"--role {name} is given twice: {roles[role]} and {alias}")
        roles[role] = alias
    return roles
