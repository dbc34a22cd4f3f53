"""``--resume`` beside other options: a search goes on as it was begun, and what says otherwise is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from treadle.errors import UserError

_RENAMED = {"model": "models", "role": "roles"}
_CAP, _PER_SAMPLE = "max_", "_per_sample"


def refuse_other(run: str, begun: Mapping[str, Any], wanted: Mapping[str, Any], given: Mapping[str, str]) -> None:
    """Refuse options that contradict what a search was begun with.

    Args:
        run: The run's id.
        begun: What it was asked for, as the store has it.
        wanted: The same of this command line, defaults included; what it does not have may differ.
        given: The options that really stand on the command line, parameter name to flag.

    Raises:
        UserError: Names the first such option and the stored value.
    """
    for name, flag in given.items():
        place = _place(name)
        if place[0] in wanted and _at(wanted, place) != _at(begun, place):
            raise UserError(
                f"run {run} was begun {_told(flag, _at(begun, place))}, and goes on as it was begun: leave {flag} out,"
                " or start a new search (only budgets, --concurrency and --sandbox may be given anew)"
            )


def _place(name: str) -> tuple[str, ...]:
    from treadle.search.settings import SearchSettings

    if name in {each.name for each in fields(SearchSettings)}:
        return "settings", name
    if name.startswith(_CAP) and name.endswith(_PER_SAMPLE):
        return "caps", name.removeprefix(_CAP).removesuffix(_PER_SAMPLE)
    return (_RENAMED.get(name, name),)


def _at(document: Mapping[str, Any], place: tuple[str, ...]) -> Any:
    value: Any = document
    for part in place:
        value = value[part]
    return value


def _told(flag: str, value: Any) -> str:
    """Such as ``with --limit 6``, or ``without --limit``."""
    if value is None or isinstance(value, bool) or value in ([], {}):
        return f"without {flag}"
    if isinstance(value, Mapping):
        value = [f"{key}={each}" for key, each in value.items()]  # pyright: ignore[reportUnknownVariableType]
    shown = ",".join(map(str, value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]
    return f"with {flag} {shown}"
