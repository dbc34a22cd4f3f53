"""Names that are kept free for later versions: they say so, whatever follows them."""

from __future__ import annotations

from typing import Annotated

import typer

from treadle.errors import NotYetError

NAMES = ("classify", "review", "report", "serve", "recheck", "advise", "view")


def add_to(app: typer.Typer) -> None:
    """Add the names, hidden from the list of commands."""
    for name in NAMES:
        app.command(
            name,
            hidden=True,
            add_help_option=False,
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
        )(_refuse)


def _refuse(
    context: typer.Context, words: Annotated[list[str] | None, typer.Argument(show_default=False)] = None
) -> None:
    raise NotYetError(f"treadle {context.info_name}")
