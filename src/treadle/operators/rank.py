"""Ranking candidates by one look at all of them."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.fitting import fit, followed
from treadle.operators.material import candidate_turns
from treadle.operators.player import Player
from treadle.parsing.rankings import Ranking, ranking

VERSION = 1
RANKER = Player("ranker")
INSTRUCTION = """\
Decide which candidates are the best replies to the task: first of all a reply must be correct, then complete, then \
clear and in the form that the task asks for; length by itself is no merit. Critiques, where there are any, may be \
mistaken. Compare the candidates in a few sentences."""
FORM = """\
Then end with one line of the form "Ranking: a > b > c", with the numbers of candidates in place of the letters, the \
best first."""
AGAIN = 'There was no ranking. Reply with one line of the form "Ranking: a > b > c" and nothing else.'


async def rank(
    problem: Problem,
    candidates: Sequence[Candidate],
    *,
    run: Run,
    top_k: int,
    player: Player = RANKER,
    instruction: str | None = None,
) -> tuple[Candidate, ...]:
    """The best candidates in the order that a ranker gives them (Archon, arXiv 2409.15254).

    They are shown in the order in which they are given, with their critiques, and only the best ``top_k`` are asked
    for; one candidate is not ranked. Numbers that are repeated or of no candidate do not count, and where too few are
    left, those that were not named follow in the order given; both are noted. A reply without a ranking is followed by
    one more ask; then the order given stands, which is noted. Candidates that the ranker's context window has no room
    for follow behind the others.

    Args:
        problem: What the candidates answer.
        candidates: In their order.
        run: Where the ranker is asked.
        top_k: How many to keep, from 1.
        player: Who ranks.
        instruction: What to do, in place of `INSTRUCTION`; `FORM` follows it.
    """
    given = tuple(candidates)
    if len(given) < 2:
        return given
    run = run.child("rank")
    told = f"{instruction or INSTRUCTION}\n\n{FORM} "
    shown = len(fit(problem, given, player, run, instruction=told + _wanted(len(given) - 1, len(given) + 1)))
    told += _wanted(top_k, shown)
    read = await _ask(problem, given[:shown], run, player, told) if shown > 1 else Ranking((1,))
    order = [] if read is None else [number - 1 for number in read.order]
    rest = [place for place in range(len(given)) if place not in order]
    if read is None:
        run.note("fallback", reason="the ranker gave no ranking", to="the order given")
    elif read.rejected or len(order) < min(top_k, shown):
        added = [given[place].id for place in rest[: max(0, top_k - len(order))]]
        run.note("mended", rejected=list(read.rejected), added=added)
    best = tuple(given[place] for place in (*order, *rest)[:top_k])
    run.note("ranked", best=[candidate.id for candidate in best], of=len(given))
    return best


async def _ask(problem: Problem, shown: Sequence[Candidate], run: Run, player: Player, told: str) -> Ranking | None:
    turns = candidate_turns(problem, shown, told)
    completion = await player.ask(run, turns, draw=0, keep_truncated=True)
    read = ranking(completion.text, len(shown))
    if read is not None:
        return read
    run.note("asked again", reason="the ranker's reply holds no ranking")
    turns = followed(turns, completion.text, AGAIN, player, run)
    completion = await player.ask(run, turns, draw=1, keep_truncated=True)
    return ranking(completion.text, len(shown))


def _wanted(top_k: int, count: int) -> str:
    if top_k >= count:
        return f"Name all {count}, each once."
    return "Name only the best one." if top_k == 1 else f"Name only the best {top_k}, each once."
