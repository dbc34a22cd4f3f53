"""``arena-hard:FILE``: hard questions of users, judged against another model's answers (arXiv 2406.11939)."""

from __future__ import annotations

from treadle.tasks.judged_questions import open_judged, solution_texts
from treadle.tasks.opening import Opening
from treadle.tasks.task import Task


def open_arena_hard(opening: Opening) -> Task:
    """Open a file with ``prompt`` (or ``turns``), as arena-hard-auto publishes them.

    ``cluster``, the topic that a question was found under, is a public field like any other and no group: the interval
    is clustered by question. ``?group=cluster`` makes it one. A ``reference``, where a row has one, is shown to the
    judge.
    """
    return open_judged(opening, lambda row, name: solution_texts(row, row.fields.get(name), name))
