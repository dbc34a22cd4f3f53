"""What a space holds, for whoever looks at it before searching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.search.space import Grid, Space, Structure

SHOWN = 10


def space_document(space: Space) -> dict[str, Any]:
    """A space as JSON values: what the contract says, and its ``cheapest`` and ``dearest`` structures with calls.

    Args:
        space: A finite space.
    """
    ordered = _by_calls(space)
    return {
        **space.document(),
        "cheapest": [_row(structure) for structure in ordered[:SHOWN]],
        "dearest": [_row(structure) for structure in ordered[::-1][:SHOWN]],
    }


def _by_calls(space: Space) -> Sequence[Structure]:
    """The structures from few calls to many; of a large space only those at both ends."""
    structures = space.structures()
    if not isinstance(space, Grid):
        return sorted(structures, key=lambda structure: structure.workflow.calls.likely)
    order = [int(place) for place in space.costs().argsort(kind="stable")]
    ends = order if len(order) <= 2 * SHOWN else [*order[:SHOWN], *order[-SHOWN:]]
    return [structures[place] for place in ends]


def _row(structure: Structure) -> dict[str, Any]:
    return {"workflow": structure.name, "calls": structure.workflow.calls.likely}
