"""``math:FILE``: competition problems with LaTeX answers (MATH, arXiv 2103.03874; MATH-500)."""

from __future__ import annotations

from treadle.parsing.boxed import boxed
from treadle.tasks.opening import FieldNames, Opening, build_samples
from treadle.tasks.rows import Row, read_rows
from treadle.tasks.scorers.math import MathScorer
from treadle.tasks.task import Task


def open_math(opening: Opening) -> Task:
    r"""Open a file with ``problem`` and ``answer``, or ``solution`` whose last ``\boxed`` is the answer."""
    names = FieldNames.of(opening.options, input="problem", target="answer")
    samples = build_samples(
        read_rows(opening.path()),
        names,
        target=lambda row: _target(row, names.target),
    )
    return opening.task(samples, MathScorer())


def _target(row: Row, name: str) -> str:
    if name not in row.fields and isinstance(row.fields.get("solution"), str):
        found = boxed(row.fields["solution"])
        if not found:
            raise row.fault("the solution holds no \\boxed answer")
        return found
    value = row.get(name, "target")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise row.fault(f"the field {name!r} must be LaTeX text or a number")
    return str(value)
