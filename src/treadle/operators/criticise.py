"""Strengths and weaknesses of every candidate, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.fitting import fit
from treadle.operators.material import candidate_turns
from treadle.operators.player import Player
from treadle.parsing.critiques import critiques

VERSION = 1
SECOND_ASKS = 2
CRITIC = Player("critic")
INSTRUCTION = """\
Review each candidate as a strict but fair critic: is it correct, complete, clear, and in the form that the task asks \
for? Check its claims and steps yourself; that candidates agree proves nothing. Name what a better reply should keep \
and what it must mend, each in a few words and to the point. Do not write a reply to the task."""
FORM = """\
Write one block for each candidate, in their order, between tags that bear its number: <critique_1> and </critique_1> \
around what you say of candidate 1, and so on. In each block stand two lines, "Strengths: ..." and "Weaknesses: ..."; \
where there is nothing to say, the word "none" follows."""


async def criticise(
    problem: Problem,
    candidates: Sequence[Candidate],
    *,
    run: Run,
    player: Player = CRITIC,
    instruction: str | None = None,
) -> tuple[Candidate, ...]:
    """The candidates with a critique each, by one call that sees all of them (Archon, arXiv 2409.15254).

    Candidates of which the reply says nothing that can be read are shown again without the others, at most
    `SECOND_ASKS` times; so are those that the critic's context window had no room for. What then is still missing
    stays without critique, which is noted. Critiques that candidates had before are neither shown nor kept.

    Args:
        problem: What the candidates answer.
        candidates: In their order; without any nothing is asked.
        run: Where the critic is asked.
        player: Who criticises.
        instruction: What to do, in place of `INSTRUCTION`; `FORM` follows it.

    Returns:
        The same candidates in the same order.
    """
    run = run.child("criticise")
    told = f"{instruction or INSTRUCTION}\n\n{FORM}"
    said: dict[int, str] = {}
    missing = list(range(len(candidates)))
    for ask in range(1 + SECOND_ASKS):
        if not missing:
            break
        if ask:
            reason = "the critic said nothing of some candidates"
            run.note("asked again", reason=reason, candidates=[candidates[place].id for place in missing])
        rest = [candidates[place] for place in missing]
        shown = fit(problem, rest, player, run, instruction=told, critiques=False)
        turns = candidate_turns(problem, shown, told, critiques=False)
        completion = await player.ask(run, turns, draw=ask, keep_truncated=True)
        said |= {missing[number - 1]: words for number, words in critiques(completion.text, len(shown)).items()}
        missing = [place for place in missing if place not in said]
    if missing:
        left = [candidates[place].id for place in missing]
        run.note("fallback", reason="the critic said nothing of them", candidates=left, to="no critique")
    return tuple(replace(candidate, critique=said.get(place)) for place, candidate in enumerate(candidates))
