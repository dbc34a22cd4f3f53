"""Ordering candidates by scores, with a stated rule for equal ones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate


def tie_order(question: str, count: int) -> list[int]:
    """The order in which equal candidates stand: places 0 to count - 1 as drawn with the question for a seed.

    Texts play no part, and no place is favoured over many questions; structures that meet the same candidates get the
    same order, so they share what follows.

    Args:
        question: The question's id, or its text where it has none.
        count: How many candidates there are.
    """
    places = list(range(count))
    Random(f"ties/{count}/{question}").shuffle(places)
    return places


def best_scored(
    problem: Problem, candidates: Sequence[Candidate], scores: Sequence[float], top_k: int | None, *, run: Run
) -> tuple[Candidate, ...]:
    """The candidates with the highest scores first; equal ones in the order of `tie_order`, which is noted.

    Args:
        problem: The question.
        candidates: In their order.
        scores: One each.
        top_k: How many to keep; all where it is not given.
        run: Where scores and ties are noted.
    """
    places = tie_order(problem.id or str(problem), len(candidates))
    places.sort(key=lambda place: -scores[place])
    best = tuple(candidates[place] for place in places[:top_k])
    run.note("ranked", best=[candidate.id for candidate in best], of=len(candidates), scores=list(scores))
    tied = {score for score in scores if scores.count(score) > 1}
    if tied:
        ids = [candidate.id for candidate, score in zip(candidates, scores, strict=True) if score in tied]
        run.note("tie", candidates=ids, order="drawn with the question for a seed")
    return best
