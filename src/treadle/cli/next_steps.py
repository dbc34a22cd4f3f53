"""What to type after a measurement."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from treadle.cli.output import clean


def next_steps(document: Mapping[str, Any]) -> list[str]:
    """Commands that look at what was measured; rows without one question that came to an end are left out.

    Args:
        document: The JSON document of ``eval`` or ``baseline``.
    """
    run = document["run"]
    rows = [row for row in document["results"] if row["scored"] or sum(row["failed"].values())]
    names = [clean(row["workflow"]) for row in rows if row["score"] is not None]
    steps: list[str] = []
    if any(row["calls"]["logical"] and (row["score"] or 0.0) < 1.0 for row in rows):
        first = run if len(document["results"]) == 1 else shlex.quote(f"{run}/{clean(rows[0]['workflow'])}")
        steps.append(f"treadle trace {first} --failed")
    if len(names) > 1:
        sides = (shlex.quote(f"{run}/{name}") for name in (names[1], names[0]))
        steps.append(f"treadle compare {' '.join(sides)}")
    return steps
