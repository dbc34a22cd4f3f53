"""Fusing candidates into new ones."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.errors import TruncatedError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.fitting import fit
from treadle.operators.generate import Attempt, generate_each
from treadle.operators.material import candidate_turns
from treadle.operators.player import Player

VERSION = 1
FUSER = Player("fuser")
INSTRUCTION = """\
Write the best reply to the task that you can, with the candidates as material. Any of them may be wrong, and so may \
what a critique says of them; that many agree is a hint and no proof. Where they differ, work out who is right. Keep \
what is correct and well put, mend what is wrong, add what is missing, and leave out what does not serve the task."""
FORM = """\
Give only the reply itself, in the form that the task asks for and as if you had never seen a candidate: not a word \
about candidates, critiques or their numbers."""
BRIEF = "The reply must not be longer than the candidates are."


async def fuse(
    problem: Problem,
    candidates: Sequence[Candidate],
    *,
    run: Run,
    samples: int = 1,
    player: Player = FUSER,
    instruction: str | None = None,
    brief: bool = False,
    id: str = "",
    first_draw: int = 0,
) -> tuple[Candidate, ...]:
    """Write new candidates, each from all that are given and their critiques, all at once (Archon, arXiv 2409.15254).

    Candidates beyond the fuser's context window are left out by the rule of `treadle.operators.fitting.fit`. Draws
    that fail, are cut or say nothing are left out and noted; where all are empty, or all failed and the first of them
    by being cut, the candidates that were given stay, which is noted.

    Args:
        problem: What the candidates answer.
        candidates: At least one.
        run: Where the calls are made.
        samples: How many to write, from 1.
        player: Who writes.
        instruction: What to do, in place of `INSTRUCTION`; `FORM` follows it.
        brief: Whether the new ones shall not be longer than the old ones.
        id: What the ids of the new ones begin with; they end in the draw.
        first_draw: The first draw.

    Returns:
        New candidates whose parents are those that were shown; or the given ones.

    Raises:
        ProviderError: When every draw failed, and the first of them by the provider.
        SampleBudgetError: When the question's own cap did not cover all draws.
    """
    run = run.child("fuse")
    told = "\n\n".join([instruction or INSTRUCTION, *([BRIEF] if brief else []), FORM])
    shown = fit(problem, candidates, player, run, instruction=told)
    turns = candidate_turns(problem, shown, told)
    parents = tuple(candidate.id for candidate in shown)
    prefix = f"{id}." if id else ""
    draws = range(first_draw, first_draw + samples)
    try:
        attempts = [Attempt(f"{prefix}{draw}", turns, draw, player, parents) for draw in draws]
        fused = await generate_each(attempts, run=run)
    except TruncatedError as error:
        run.note("fallback", reason=str(error), to="the candidates as they are")
        return tuple(candidates)
    if not any(candidate.shown for candidate in fused):
        run.note("fallback", reason="no new reply says anything", to="the candidates as they are")
        return tuple(candidates)
    return fused
