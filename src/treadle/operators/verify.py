"""Verifying candidates one by one: reasoning first, then a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treadle.errors import SampleBudgetError, SampleFailure
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.fitting import fit, followed
from treadle.operators.material import candidate_turns
from treadle.operators.player import Player
from treadle.operators.turns import Turns, last_user_turn
from treadle.parsing.verdicts import correctness

VERSION = 1
VERIFIER = Player("verifier")
INSTRUCTION = """\
Check the candidate step by step against the task. It may be right or wrong; nothing is known of that. Go through its \
claims, steps and results, work each out for yourself, and say of each whether it holds; then compare what it comes to \
with what the task asks for. Reason only: a verdict is asked for afterwards."""
VERDICT = """\
Now decide, by what your check has shown, whether the candidate is correct as a whole. The last line of your reply \
must be "Verdict: correct" or "Verdict: incorrect"."""
AGAIN = 'There was no verdict. Reply with one line, "Verdict: correct" or "Verdict: incorrect", and nothing else.'


async def verify(
    problem: Problem,
    candidates: Sequence[Candidate],
    *,
    run: Run,
    player: Player = VERIFIER,
    instruction: str | None = None,
    top_k: int | None = None,
) -> tuple[Candidate, ...]:
    """The candidates that a verifier finds correct, in their order (Archon, arXiv 2409.15254).

    Each is seen alone, without its critique, in two calls: a check that is told nothing of right or wrong, then a
    verdict in the same chat. A verdict that cannot be read is asked for once more; a candidate without one, or whose
    calls failed, does not pass, which is noted. Where none passes all go on, which is noted, whatever ``top_k`` says.

    Args:
        problem: What the candidates answer.
        candidates: In their order; without any nothing is asked.
        run: Where the verifier is asked, of all candidates at once.
        player: Who verifies.
        instruction: How to check, in place of `INSTRUCTION`.
        top_k: How many of those that pass go on; all where it is not given.

    Raises:
        ProviderError: The first failure, when the calls of every candidate failed.
        SampleBudgetError: When the question's own cap did not cover all candidates.
    """
    given = tuple(candidates)
    run = run.child("verify")
    told = instruction or INSTRUCTION
    results = await run.settle(_verdict(problem, candidate, run, player, told) for candidate in given)
    failures = [result for result in results if isinstance(result, SampleFailure)]
    passed: list[Candidate] = []
    for candidate, result in zip(given, results, strict=True):
        if isinstance(result, SampleBudgetError):
            # Which candidates a cap lets be verified is chance; an answer made of them would be too.
            raise result
        if isinstance(result, SampleFailure):
            run.note("dropped", candidate=candidate.id, failure=result.failure, reason=str(result))
        elif result is None:
            run.note("fallback", candidate=candidate.id, reason="the verifier gave no verdict", to="not passed")
        elif result:
            passed.append(candidate)
    if failures and len(failures) == len(given):
        raise failures[0]
    run.note("verified", passed=[candidate.id for candidate in passed], of=len(given))
    if given and not passed:
        run.note("nobody passed", candidates=[candidate.id for candidate in given], to="all go on")
        return given
    return tuple(passed[:top_k])


async def _verdict(problem: Problem, candidate: Candidate, run: Run, player: Player, told: str) -> bool | None:
    shown = fit(problem, (candidate,), player, run, instruction=told, critiques=False, share=0.5)
    turns = candidate_turns(problem, shown, told, critiques=False)
    reasoning = await player.ask(run, turns, draw=0, keep_truncated=True)
    checked = followed(turns, reasoning.text, VERDICT, player, run)
    if checked == turns:
        run.note("no reasoning", candidate=candidate.id)
    turns = checked if checked != turns else _extended(turns, VERDICT)
    verdict = await player.ask(run, turns, draw=0, keep_truncated=True)
    found = correctness(verdict.text)
    if found is None:
        run.note("asked again", candidate=candidate.id, reason="the verifier's reply holds no verdict")
        turns = followed(turns, verdict.text, AGAIN, player, run)
        found = correctness((await player.ask(run, turns, draw=1, keep_truncated=True)).text)
    return found


def _extended(turns: Turns, words: str) -> Turns:
    place = last_user_turn(turns)
    assert place is not None
    asked = replace(turns[place], content=f"{turns[place].content}\n\n{words}")
    return (*turns[:place], asked, *turns[place + 1 :])
