"""Scorers by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from treadle.errors import UnknownNameError, UserError
from treadle.lookup import find_object, looks_like_path
from treadle.tasks.base import Scorer
from treadle.tasks.scorers.choice import ChoiceScorer
from treadle.tasks.scorers.contains import ContainsScorer
from treadle.tasks.scorers.custom import Grade, scorer
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.scorers.f1 import F1Scorer
from treadle.tasks.scorers.judge import JudgeScorer
from treadle.tasks.scorers.math import MathScorer
from treadle.tasks.scorers.numeric import NumericScorer
from treadle.tasks.scorers.pairwise import PairwiseScorer
from treadle.tasks.scorers.regex import RegexScorer
from treadle.tasks.spec import Options, read_spec

_SCORERS: dict[str, Callable[[Options], Scorer]] = {
    "exact": lambda options: ExactScorer(case=options.one_of("case", ("false", "true")) == "true"),
    "contains": lambda _: ContainsScorer(),
    "regex": lambda options: RegexScorer(options.take("pattern")),
    "numeric": lambda options: NumericScorer(options.number("tolerance", 0.0)),
    "choice": lambda options: ChoiceScorer(options.take("letters").upper()),
    "f1": lambda _: F1Scorer(),
    "math": lambda _: MathScorer(),
    "judge": lambda _: JudgeScorer(),
    "pairwise": lambda _: PairwiseScorer(),
}

SCORER_NAMES = tuple(_SCORERS)


def open_scorer(name: str, options: Options, *, folder: Path) -> Scorer:
    """A scorer by its name, or a user's own by ``module:function``.

    Args:
        name: Such as ``numeric``.
        options: Where the scorer takes its own options from, such as ``tolerance``.
        folder: Where a user's module is looked for first.

    Raises:
        UnknownNameError: No such scorer, with near matches.
        UserError: An option or a user's module cannot be used.
    """
    if name in _SCORERS:
        return _SCORERS[name](options)
    if not looks_like_path(name):
        raise UnknownNameError("scorer", name, SCORER_NAMES)
    return as_scorer(find_object(name, folder), name, folder=folder)


def as_scorer(value: Any, source: str, *, folder: Path) -> Scorer:
    """A scorer from what a user wrote: a scorer, a function, or a name with options such as ``numeric?tolerance=1``.

    Raises:
        UserError: It is none of these.
    """
    if isinstance(value, str):
        spec = read_spec(value)
        options = Options.of(spec)
        found = open_scorer(value.partition("?")[0], options, folder=folder)
        options.finish()
        return found
    if all(hasattr(value, name) for name in ("name", "answer_format", "score", "same", "show")):
        return cast(Scorer, value)
    if callable(value):
        return scorer(cast(Grade, value))
    raise UserError(f"{source}: a scorer must be a function of a sample and an answer, not {value!r:.80}")
