"""Comparing candidates two by two, each pair in both orders."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.judge import JUDGING, judged_best
from treadle.operators.pick_best import distinct
from treadle.operators.player import Player


async def prefer(
    problem: Problem,
    first: Candidate,
    second: Candidate,
    *,
    run: Run,
    player: Player = JUDGING,
    instruction: str | None = None,
) -> Candidate | None:
    """The better of two candidates by a judge that sees them in both orders (Zheng et al., arXiv 2306.05685).

    Args:
        problem: What the candidates answer.
        first: A candidate.
        second: Another.
        run: Where the judge is asked, twice.
        player: Who judges.
        instruction: How to judge, in place of the judge's own instruction.

    Returns:
        The candidate that is preferred in both orders, or ``None`` for a tie: the orders disagree, or one of them
        came to no verdict.
    """
    run = run.child("prefer")
    one, other = await run.gather(
        judged_best(problem, pair, run=run, player=player, instruction=instruction)
        for pair in ((first, second), (second, first))
    )
    if one is None or other is None or one.id != other.id:
        run.note("tie", candidates=[first.id, second.id], verdicts=[one and one.id, other and other.id])
        return None
    return one


async def knock_out(
    problem: Problem, candidates: Sequence[Candidate], *, run: Run, player: Player = JUDGING
) -> Candidate:
    """The candidate that is left when each in turn meets the best so far; a tie keeps the earlier one.

    Args:
        problem: What the candidates answer.
        candidates: In the order of their draws; at least one.
        run: Where the judge is asked, twice for each of the second and later ones.
        player: Who judges.
    """
    run = run.child("knock_out")
    able = distinct(problem, candidates)
    best = able[0]
    for challenger in able[1:]:
        best = await prefer(problem, best, challenger, run=run, player=player) or best
    if len(able) > 1:
        run.note("picked", winner=best.id)
    return best
