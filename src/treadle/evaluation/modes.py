"""Which rows of a table are modes of one workflow, read from their names."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.errors import UserError
from treadle.workflows.settings import split_options

WORKFLOW = "manager-worker"
ALONE = "strong"
"""The mode in which the strong model works alone."""
STRONG_ROLE = "manager"
"""The role that the strong model is asked in there."""
_USUAL = "full"


def mode_of(name: str) -> str | None:
    """The mode of a workflow's name, such as ``strong``; ``None`` of another workflow.

    Args:
        name: A workflow's name with its settings, in whatever order.
    """
    try:
        workflow, options = split_options(name)
    except UserError:
        return None
    return options.get("mode", _USUAL) if workflow == WORKFLOW else None


def held_against(names: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """The row that others are held against, and those others.

    Args:
        names: Names of all rows, in order.

    Returns:
        The first row in which the strong model works alone, ``None`` without one; and the other rows of the workflow.
    """
    alone = next((name for name in names if mode_of(name) == ALONE), None)
    if alone is None:
        return None, ()
    return alone, tuple(name for name in names if name != alone and mode_of(name) is not None)
