"""The questions of a row one by one, as JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from treadle.evaluation.outcome import Outcome


def sample_documents(
    ids: Sequence[str], outcomes: Sequence[Outcome], scores: Mapping[str, float]
) -> list[dict[str, Any]]:
    """What came of each question, averaged over its repeats.

    Args:
        ids: The questions asked for, in order.
        outcomes: What came of them so far.
        scores: The score of each question that has one.
    """
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.id, []).append(outcome)
    return [_sample(id, found.get(id, []), scores.get(id)) for id in ids]


def _sample(id: str, outcomes: list[Outcome], score: float | None) -> dict[str, Any]:
    finished = [outcome for outcome in outcomes if outcome.finished]
    if not finished:
        return {"id": id, "score": None, "answer": "", "status": "unfinished", "calls": 0, "usd": None, "seconds": 0.0}
    failed = [outcome.status for outcome in finished if outcome.status not in ("ok", "infra")]
    if all(outcome.status == "infra" for outcome in finished):
        failed = ["infra"]
    prices = [outcome.usd for outcome in finished if outcome.usd is not None]
    return {
        "id": id,
        "score": score,
        "answer": finished[0].answer,
        "status": failed[0] if failed else "ok",
        "calls": mean([o.calls for o in finished]),
        "usd": mean(prices) if len(prices) == len(finished) else None,
        "seconds": mean([o.seconds for o in finished]),
    }


def mean(values: Sequence[float]) -> float:
    """The mean; a single value stays exactly what it is."""
    return values[0] if len(values) == 1 else fmean(values)


def quantile(ordered: Sequence[float], q: float) -> float | None:
    """The value at a share of sorted values, interpolated; ``None`` of none."""
    if not ordered:
        return None
    place = q * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
