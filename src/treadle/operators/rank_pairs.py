"""Ranking candidates by comparing all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.player import Player
from treadle.operators.prefer import prefer
from treadle.operators.rank import RANKER
from treadle.operators.ties import best_scored


async def rank_pairs(
    problem: Problem,
    candidates: Sequence[Candidate],
    *,
    run: Run,
    top_k: int,
    player: Player = RANKER,
    instruction: str | None = None,
) -> tuple[Candidate, ...]:
    """The best candidates by their wins over all others, each pair seen in both orders (LLM-Blender, arXiv 2306.02561).

    All comparisons are made at once. A candidate scores 1 for each other one that it is preferred to in both orders,
    and one half for each tie. Equal scores are ordered by `treadle.operators.ties.tie_order`, which is noted.

    Args:
        problem: What the candidates answer.
        candidates: In their order; one is not compared.
        run: Where the judge of the pairs is asked, twice for each pair.
        top_k: How many to keep, from 1.
        player: Who compares.
        instruction: How to judge, in place of the judge's own instruction.
    """
    given = tuple(candidates)
    if len(given) < 2:
        return given
    run = run.child("rank_pairs")
    pairs = list(combinations(range(len(given)), 2))
    preferred = await run.gather(
        prefer(problem, given[one], given[other], run=run, player=player, instruction=instruction)
        for one, other in pairs
    )
    scores = [0.0] * len(given)
    for (one, other), winner in zip(pairs, preferred, strict=True):
        if winner is None:
            scores[one] += 0.5
            scores[other] += 0.5
        else:
            scores[one if winner is given[one] else other] += 1.0
    return best_scored(problem, given, scores, top_k, run=run)
