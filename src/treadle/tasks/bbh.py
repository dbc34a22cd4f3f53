"""``bbh:FILE``: BIG-Bench Hard tasks, multiple choice and others (arXiv 2210.09261)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from treadle.parsing.numbers import to_number
from treadle.tasks.base import Sample, Scorer
from treadle.tasks.opening import FieldNames, Opening, build_samples
from treadle.tasks.rows import read_rows
from treadle.tasks.scorers.choice import ChoiceScorer
from treadle.tasks.scorers.label import LabelScorer
from treadle.tasks.scorers.numeric import NumericScorer
from treadle.tasks.scorers.words import WordsScorer
from treadle.tasks.task import Task

_LETTER = re.compile(r"\(([A-Z])\)")
_LABELS = 4


def open_bbh(opening: Opening) -> Task:
    """Open a file with ``input`` and ``target``.

    The targets of the whole file decide how it is graded: letters in brackets as multiple choice, numbers as numbers,
    a few labels such as True and False by the label that the answer gives, anything else word by word.
    """
    names = FieldNames.of(opening.options)
    rows = read_rows(opening.path())
    samples = build_samples(rows, names, target=lambda row: row.text(names.target, "target"))
    return opening.task(samples, _scorer(samples))


def _scorer(samples: Sequence[Sample]) -> Scorer:
    targets = [str(sample.target) for sample in samples]
    kinds = sorted(set(targets))
    if all(_LETTER.fullmatch(target) for target in kinds):
        wanted = "End with a line 'Answer: (X)' where X is the letter of the right option."
        return ChoiceScorer(answer_format=wanted).of(samples)
    if all(to_number(target) is not None for target in kinds):
        return NumericScorer(answer_format="End with a line 'Answer: <number>'.")
    if len(kinds) <= _LABELS and len(targets) > len(kinds):
        return LabelScorer(tuple(kinds), answer_format=f"End with a line 'Answer: X' where X is {' or '.join(kinds)}.")
    return WordsScorer(answer_format="End with a line 'Answer: <answer>'.")
