"""``jsonl:FILE?scorer=NAME``: rows of the user's own."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.tasks.base import Sample, Scorer
from treadle.tasks.opening import FieldNames, Opening, build_samples, target_reader
from treadle.tasks.rows import Row, read_rows
from treadle.tasks.scorers.choice import ChoiceScorer
from treadle.tasks.scorers.open import open_scorer
from treadle.tasks.task import Task


def open_jsonl(opening: Opening) -> Task:
    """Open a file of rows with ``id``, ``input``, ``target`` and, where wanted, ``group``.

    Names are mapped by ``?input=question&target=answer&id=key&group=article``. Without ids the rows are numbered from
    1. The scorer is ``numeric`` where every target is a number and ``exact`` elsewhere, unless ``?scorer=`` says.
    """
    rows = read_rows(opening.path())
    return opening.task(*read_scored(opening, rows))


def read_scored(opening: Opening, rows: Sequence[Row], scorer: Scorer | None = None) -> tuple[list[Sample], Scorer]:
    """Samples of rows whose fields, and whose scorer if none is given, are named by options."""
    names = FieldNames.of(opening.options)
    named = opening.options.take("scorer")
    if named or scorer is None:
        scorer = open_scorer(named or default_scorer(rows, names.target), opening.options, folder=opening.folder)
    samples = build_samples(rows, names, target=target_reader(scorer, names))
    return samples, scorer.of(samples) if isinstance(scorer, ChoiceScorer) else scorer


def default_scorer(rows: Sequence[Row], target: str) -> str:
    """The scorer where none is named: ``numeric`` when all targets are numbers, else ``exact``."""
    values = [row.fields.get(target) for row in rows]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return "numeric" if numbers else "exact"
