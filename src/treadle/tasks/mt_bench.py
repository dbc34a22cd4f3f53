"""``mt-bench:FILE``: questions of two turns, judged against another model's answers (arXiv 2306.05685)."""

from __future__ import annotations

from itertools import zip_longest

from treadle.tasks.judged_questions import open_judged, solution_texts
from treadle.tasks.opening import Opening
from treadle.tasks.rows import Row
from treadle.tasks.task import Task

_SOLVED = frozenset({"math", "reasoning", "coding"})
"""Categories whose questions have right answers: there the judge is shown a solution (section 3.4 of the paper)."""
_FALLBACK = "gpt4_reference"


def open_mt_bench(opening: Opening) -> Task:
    """Open a file with ``turns``, ``category`` and, where the question has a right answer, ``reference``.

    The judge sees a solution in the categories math, reasoning and coding, and where a row names no category: that of
    ``reference``, for turns without one that of ``gpt4_reference``.
    """
    return open_judged(opening, _solutions, hidden=frozenset({_FALLBACK}))


def _solutions(row: Row, name: str) -> tuple[str, ...]:
    if row.fields.get("category", "math") not in _SOLVED:
        return ()
    first, second = (solution_texts(row, row.fields.get(field), field) for field in (name, _FALLBACK))
    return tuple(one or other for one, other in zip_longest(first, second, fillvalue=""))
