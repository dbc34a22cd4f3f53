"""Several answers at once, of which some may fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treadle.errors import SampleBudgetError, SampleFailure
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Completion
from treadle.operators.candidate import Candidate, answered
from treadle.operators.turns import Turns, plain_turns


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to ask for: what the candidate will be called, what is asked, and which draw of it."""

    id: str
    turns: Turns
    draw: int = 0


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
    results = await run.settle(run.ask(each.turns, role=role, draw=each.draw) for each in attempts)
    candidates: list[Candidate] = []
    failures: list[SampleFailure] = []
    for attempt, result in zip(attempts, results, strict=True):
        if isinstance(result, Completion):
            candidates.append(Candidate(attempt.id, result.text))
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
