"""A majority vote with the task's own equality."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate, answered


@dataclass(frozen=True, slots=True)
class Majority:
    """What a vote comes to.

    Attributes:
        place: Place of the winning text.
        votes: How many texts are the same answer as it.
        tied: Places of other answers with as many votes, the first text of each.
    """

    place: int
    votes: int
    tied: tuple[int, ...] = ()


async def vote(problem: Problem, candidates: Sequence[Candidate], *, run: Run) -> Candidate:
    """The answer that most candidates give, by the task's equality, so that 4 and 4.0 are one vote.

    Replies that are empty or hold no answer (a reply that is not even the same as itself) do not vote, unless none
    holds one. A tie goes to the answer whose first vote came first, and is noted.

    Args:
        problem: Whose equality counts.
        candidates: The voters in the order of their draws; at least one.
        run: Where the vote is noted.

    Returns:
        The first candidate that gave the winning answer.
    """
    run = run.child("vote")
    voters = answered(candidates)
    texts = [voter.text for voter in voters]
    result = Majority(0, 1) if len(texts) == 1 else count_votes(texts, problem.same)
    if result is None:
        run.note("no answer", candidates=len(candidates))
        return voters[0]
    winner = voters[result.place]
    run.note("vote", winner=winner.id, votes=result.votes, of=len(voters))
    if result.tied:
        run.note("tie", winner=winner.id, votes=result.votes, tied=[voters[place].id for place in result.tied])
    return winner


def count_votes(texts: Sequence[str], same: Callable[[str, str], bool]) -> Majority | None:
    """Count which answer most texts give.

    A text's votes are all the texts that are the same answer as it, itself included. Where equality is transitive
    these are groups; where it is not (a tolerance), the text in the middle of a chain wins, whatever the order. Among
    texts with most votes the first wins.

    Args:
        texts: Replies in the order of their draws.
        same: Whether two replies give the same answer; symmetric. A reply without an answer is not the same as itself.

    Returns:
        ``None`` when no text holds an answer.
    """
    unique = list(dict.fromkeys(texts))
    counts = [texts.count(text) for text in unique]
    votes = [0] * len(unique)
    agree: set[tuple[int, int]] = set()
    for a, first in enumerate(unique):
        for b in range(a + 1, len(unique)):
            if same(first, unique[b]):
                agree.add((a, b))
                votes[a] += counts[b]
                votes[b] += counts[a]
        # Who agrees with another holds an answer; only the lonely must be asked.
        if votes[a] or same(first, first):
            votes[a] += counts[a]
        if votes[a] == len(texts):
            break
    most = max(votes, default=0)
    if most == 0:
        return None
    winner = votes.index(most)
    tied: list[int] = []
    for other in range(winner + 1, len(unique)):
        if votes[other] == most and not any((rival, other) in agree for rival in (winner, *tied)):
            tied.append(other)
    return Majority(texts.index(unique[winner]), most, tuple(texts.index(unique[other]) for other in tied))
