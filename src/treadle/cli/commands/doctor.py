"""``treadle doctor``: what works here."""

from __future__ import annotations

from dataclasses import asdict

import typer

from treadle.cli.help import add
from treadle.cli.options import Common

_EXAMPLE = "treadle doctor --json"


def doctor(options: Common) -> int:
    """Say what works here: configuration, store, models, keys, optional parts, and the sandbox with its proof.

    Asks each endpoint for its list of models, which costs nothing. Keys are never shown.
    """
    import asyncio

    from treadle.cli.checks import all_checks
    from treadle.cli.codes import DONE, UNUSABLE
    from treadle.cli.output import print_json, print_text, reserved_stdout
    from treadle.cli.running import check_config

    check_config(options.config)
    with reserved_stdout():
        checks = asyncio.run(all_checks(options.config))
    ok = all(check.ok or check.optional for check in checks)
    if options.as_json:
        print_json({"ok": ok, "checks": [asdict(check) for check in checks]})
    else:
        from treadle.cli import tables

        print_text(tables.checks([asdict(check) for check in checks], ok=ok))
    return DONE if ok else UNUSABLE


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "doctor", doctor, _EXAMPLE)
