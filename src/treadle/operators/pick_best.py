"""Picking the best of several candidates by a judge that sees all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate, answered
from treadle.operators.judge import JUDGING, judged_best
from treadle.operators.player import Player
from treadle.operators.vote import vote


async def pick_best(
    problem: Problem, candidates: Sequence[Candidate], *, run: Run, player: Player = JUDGING
) -> Candidate:
    """The candidate that a judge finds best, with all of them before it.

    The judge is not asked where there is nothing to decide: one candidate, or all the same answer. Candidates are
    shown in an order drawn by ``run.rng``, so that no draw profits from its place. A judge that gives no verdict, not
    even when asked again, is replaced by a vote, whose ties go to the first draw; this is noted.

    Args:
        problem: What the candidates answer.
        candidates: In the order of their draws; at least one.
        run: Where the judge is asked.
        player: Who judges.
    """
    run = run.child("pick_best")
    able = distinct(problem, candidates)
    if len(able) == 1:
        return able[0]
    shown = list(able)
    run.rng.shuffle(shown)
    best = await judged_best(problem, shown, run=run, player=player)
    if best is not None:
        run.note("picked", winner=best.id, shown=[candidate.id for candidate in shown])
        return best
    run.note("fallback", reason="the judge gave no verdict", to="vote")
    return await vote(problem, candidates, run=run)


def distinct(problem: Problem, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates that a judge has to choose among: of equal texts the first, of nothing but one answer the first.

    Args:
        problem: Whose equality tells whether all are one answer.
        candidates: In the order of their draws; at least one.
    """
    able = answered(candidates)
    by_text = {candidate.shown: candidate for candidate in reversed(able)}
    unique = tuple(candidate for candidate in able if by_text[candidate.shown] is candidate)
    if all(problem.same(unique[0].text, other.text) for other in unique[1:]):
        return unique[:1]
    return unique
