"""``gsm8k:FILE``: grade-school word problems with a number for an answer (arXiv 2110.14168)."""

from __future__ import annotations

from typing import Any

from treadle.parsing.numbers import to_number
from treadle.tasks.opening import FieldNames, Opening, build_samples
from treadle.tasks.rows import Row, read_rows
from treadle.tasks.scorers.gsm8k import Gsm8kScorer, OfficialGsm8kScorer
from treadle.tasks.task import Task

_MARK = "####"


def open_gsm8k(opening: Opening) -> Task:
    """Open a file with ``question`` and ``answer``: a number, or a solution that ends in ``#### number``.

    ``?grader=official`` grades as the authors' own script does, to the letter; the default reads a number however it
    is written.
    """
    official = opening.options.one_of("grader", ("lenient", "official")) == "official"
    names = FieldNames.of(opening.options, input="question", target="answer")
    samples = build_samples(
        read_rows(opening.path()),
        names,
        target=lambda row: _target(row, names.target),
    )
    return opening.task(samples, OfficialGsm8kScorer() if official else Gsm8kScorer())


def _target(row: Row, name: str) -> str:
    value: Any = row.get(name, "target")
    text = str(value).rpartition(_MARK)[2].strip() if isinstance(value, str | int | float) else ""
    if to_number(text) is None:
        raise row.fault(f"the field {name!r} must be a number, or a solution that ends in '{_MARK} number'")
    return text.replace(",", "")
