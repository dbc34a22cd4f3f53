"""Several answers at once, of which some may fail."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from treadle.errors import SampleBudgetError, SampleFailure
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Completion
from treadle.operators.candidate import Candidate, answered
from treadle.operators.player import Player
from treadle.operators.turns import Turns, plain_turns


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to ask for.

    Attributes:
        id: What the candidate will be called.
        turns: What is asked.
        draw: Which of the independent draws of it.
        player: Who is asked, where it is not the one that all are asked of.
        parents: Ids of the candidates that the turns show.
    """

    id: str
    turns: Turns
    draw: int = 0
    player: Player | None = None
    parents: tuple[str, ...] = ()


async def generate(
    problem: Problem, *, run: Run, n: int = 1, turns: Turns | None = None, role: str | None = None
) -> tuple[Candidate, ...]:
    """Draw several answers to one request, all at once.

    Args:
        problem: The question.
        run: Where the calls are made.
        n: How many: draws 0 to n - 1.
        turns: What to send instead of the problem as it is.
        role: Who answers.

    Returns:
        The usable answers in the order of their draws, called by their draw numbers; at least one.

    Raises:
        SampleFailure: The first failure, when every draw failed.
        SampleBudgetError: When the question's own cap did not cover all draws.
    """
    asked = plain_turns(problem) if turns is None else turns
    return await generate_each([Attempt(str(draw), asked, draw) for draw in range(n)], run=run, role=role)


async def generate_each(attempts: Sequence[Attempt], *, run: Run, role: str | None = None) -> tuple[Candidate, ...]:
    """Draw one answer to each of several requests, all at once.

    A draw that fails, is cut by its token limit or says nothing is left out and noted; empty ones stay when all that
    came are empty.

    Args:
        attempts: What to ask; at least one.
        run: Where the calls are made.
        role: Who answers.

    Returns:
        The usable answers in the order of the attempts, under their ids; at least one.

    Raises:
        SampleFailure: The first failure, when every attempt failed.
        SampleBudgetError: When the question's own cap did not cover all attempts.
    """
    run = run.child("generate")
    results = await run.settle(_ask(each, run, role) for each in attempts)
    candidates: list[Candidate] = []
    failures: list[SampleFailure] = []
    for attempt, result in zip(attempts, results, strict=True):
        if isinstance(result, Completion):
            made_by = str(attempt.player or role or "")
            candidates.append(Candidate(attempt.id, result.text, parents=attempt.parents, made_by=made_by))
            continue
        if isinstance(result, SampleBudgetError):
            # Which draws a cap lets through is chance; an answer made of them would be too.
            raise result
        failures.append(result)
        run.note("dropped", candidate=attempt.id, failure=result.failure, reason=str(result))
    if not candidates:
        raise failures[0]
    usable = answered(candidates)
    for candidate in candidates:
        if candidate not in usable:
            run.note("dropped", candidate=candidate.id, failure="empty", reason="the reply says nothing")
    return usable


def _ask(attempt: Attempt, run: Run, role: str | None) -> Coroutine[Any, Any, Completion]:
    if attempt.player is None:
        return run.ask(attempt.turns, role=role, draw=attempt.draw)
    return attempt.player.ask(run, attempt.turns, draw=attempt.draw)
