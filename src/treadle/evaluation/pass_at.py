"""pass@k of a measured row: how often at least one of k answers to a question is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from treadle.errors import UserError
from treadle.evaluation.outcome import Outcome
from treadle.evaluation.statistics.coverage import pass_at_k
from treadle.evaluation.statistics.intervals import score_interval

_RIGHT = 1 - 1e-9


def allowed_draws(asked: Iterable[int], repeats: int) -> tuple[int, ...]:
    """The numbers k of pass@k that were asked for, in order.

    Args:
        asked: Each from 1 to ``repeats``.
        repeats: How often every question is answered.

    Raises:
        UserError: One of them is below 1, or above the number of answers that there will be.
    """
    draws = tuple(sorted(set(asked)))
    for k in draws:
        if not 1 <= k <= repeats:
            remedy = f"answer every question {k} times or more (--repeat {k})" if k > 0 else "k starts at 1"
            raise UserError(
                f"pass@{k} cannot be told from {repeats} answer{'' if repeats == 1 else 's'} to a question: {remedy}"
            )
    return draws


def pass_at_document(outcomes: Iterable[Outcome], draws: Sequence[int]) -> dict[str, Any]:
    """``pass_at_k`` of a measured row as JSON values; nothing where none was asked for.

    The mean over questions of the unbiased estimate from each question's answers, with the 95 % interval of a score,
    clustered by group. Questions with fewer than k scored answers (provider failures) are left out.

    Args:
        outcomes: Of one workflow, all repeats.
        draws: The numbers k.
    """
    if not draws:
        return {}
    clusters: dict[str, str] = {}
    answers: dict[str, list[bool]] = {}
    for outcome in outcomes:
        if outcome.score is not None:
            clusters[outcome.id] = outcome.cluster
            answers.setdefault(outcome.id, []).append(outcome.score >= _RIGHT)
    table: dict[str, Any] = {}
    for k in draws:
        values = {id: pass_at_k(len(own), sum(own), k) for id, own in answers.items() if len(own) >= k}
        ci95 = score_interval(list(values.values()), [clusters[id] for id in values])
        mean = fmean(values.values()) if values else None
        table[str(k)] = {"n": len(values), "score": mean, "ci95": None if ci95 is None else list(ci95)}
    return {"pass_at_k": table}
