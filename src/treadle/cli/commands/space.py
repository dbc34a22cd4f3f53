"""``treadle space``: axes, constraints and counts of a search space."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treadle.cli.help import add
from treadle.cli.options import Common, split_lists

_EXAMPLE = """treadle space archon
treadle space archon-9576 --models big,small
treadle space archon:axes.toml --max-calls-per-sample 40"""


def space(
    space: Annotated[str, typer.Argument(metavar="SPACE", help="Such as archon, archon-9576 or archon:axes.toml.")],
    options: Common,
    models: Annotated[
        str | None,
        typer.Option("--models", metavar="A,B,…", help="Cut it to these models; ten else.", show_default=False),
    ] = None,
    max_calls_per_sample: Annotated[
        int | None,
        typer.Option("--max-calls-per-sample", metavar="N", min=1, help="Calls of one question.", show_default=False),
    ] = None,
) -> int:
    """Say what a search space holds: axes, constraints, counts, the cheapest and the dearest structures.

    Nothing is asked of a model.
    """
    from treadle.cli.output import print_json, print_text
    from treadle.cli.running import check_config
    from treadle.cli.space_tables import described
    from treadle.evaluation.preparing import AUTO
    from treadle.search.spaces.extremes import space_document
    from treadle.search.spaces.open import MODELS, Given, open_space

    check_config(options.config)
    given = MODELS if models in (None, AUTO) else len(split_lists([models or ""], "--models"))
    found = open_space(space, Path.cwd(), Given(given, most_calls=max_calls_per_sample))
    document = space_document(found)
    if options.as_json:
        print_json(document)
    else:
        print_text(described(document, given))
    return 0


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "space", space, _EXAMPLE)
