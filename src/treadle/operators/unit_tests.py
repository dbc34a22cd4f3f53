"""Unit tests in plain language: statements that a good reply fulfils, and candidates checked against them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treadle.errors import SampleBudgetError, SampleFailure
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.fitting import fit, followed
from treadle.operators.material import CAUTION
from treadle.operators.player import Player
from treadle.operators.ties import best_scored
from treadle.operators.turns import Turns, tagged, task_text, with_last_turn
from treadle.parsing.statements import listed, outcomes

VERSION = 1
FEWEST, MOST = 5, 10
TESTER = Player("tester")
WRITING = """\
The task above is material: do not do it. Write statements by which a reply to it can be checked. Each must hold for \
every good reply and not for poor ones, say one thing, and be decidable by reading the task and the reply alone. Cover \
what matters most: that the result is correct, that nothing asked for is missing, and that the form is right."""
WRITTEN = "Give a numbered list of check statements, {count} of them, each on a line of its own, and nothing else."
NO_LIST = "There was no list. Reply with a numbered list of check statements, {count} of them, and nothing else."
MORE = """\
These are too few. Reply with a numbered list of check statements that are not yet there, {count} of them, and nothing \
else."""
CHECKING = """\
Check the candidate against each of the numbered checks. Decide each on its own by what the candidate really says and \
does: a check passes when it holds for the candidate as it stands, and fails otherwise."""
CHECKED = """\
Give one line for each check, in their order, with its number and either "pass" or "fail", such as "1: pass", and \
nothing else."""
AGAIN = (
    'There are too few results. Reply with one line for each check, such as "1: pass" or "2: fail", and nothing else.'
)


async def write_statements(
    problem: Problem,
    *,
    run: Run,
    fewest: int = FEWEST,
    most: int = MOST,
    player: Player = TESTER,
    instruction: str | None = None,
) -> tuple[str, ...]:
    """Statements in plain language that a good reply fulfils (Archon, arXiv 2409.15254).

    Of more than ``most`` the first count. Fewer than ``fewest`` are followed by one more ask for the rest; what there
    is then is taken, which is noted, also where it is nothing. The last line of a list that was cut does not count.

    Args:
        problem: The question.
        run: Where the writer is asked.
        fewest: How many are asked for at least, from 1.
        most: How many are taken at most.
        player: Who writes them.
        instruction: What to write, in place of `WRITING`; `WRITTEN` follows it.
    """
    run = run.child("write_statements")
    count = str(most) if fewest == most else f"{fewest} to {most}"
    told = f"{instruction or WRITING}\n\n{WRITTEN.format(count=count)}"
    turns = with_last_turn(problem, f"{tagged('task', task_text(problem))}\n\n{told}")
    statements: list[str] = []
    for ask in range(2):
        completion = await player.ask(run, turns, draw=ask, keep_truncated=True)
        found = listed(completion.text)
        whole = found[:-1] if completion.finish_reason == "length" else found
        known = {statement.casefold() for statement in statements}
        statements += [statement for statement in whole if statement.casefold() not in known]
        if ask or len(statements) >= fewest:
            break
        run.note("asked again", reason="too few check statements", statements=len(statements))
        short = fewest - len(statements)
        words = MORE.format(count=short) if statements else NO_LIST.format(count=count)
        turns = followed(turns, completion.text, words, player, run)
    if len(statements) < fewest:
        to = f"the {len(statements)} there are" if statements else "no checks"
        run.note("fallback", reason="too few check statements", to=to)
    return tuple(statements[:most])


async def check_statements(
    problem: Problem,
    candidates: Sequence[Candidate],
    statements: Sequence[str],
    *,
    run: Run,
    top_k: int | None = None,
    player: Player = TESTER,
    instruction: str | None = None,
) -> tuple[Candidate, ...]:
    """The candidates in the order of how many statements they pass, with `Candidate.checks` (Archon, arXiv 2409.15254).

    All candidates are checked at once, each alone and without its critique, in one call for all statements. A reply
    in which less than half of the results can be read is followed by one more ask; what then is missing counts as
    failed, which is noted. Equal counts are ordered by `treadle.operators.ties.tie_order`. A candidate whose call
    failed comes last, without checks. Without statements nothing is asked and the order given stands. All of this is
    noted.

    Args:
        problem: What the candidates answer.
        candidates: In their order.
        statements: What `write_statements` gave, or any others.
        run: Where the checks are made.
        top_k: How many to keep; all where it is not given.
        player: Who checks.
        instruction: How to check, in place of `CHECKING`; `CHECKED` follows it.

    Raises:
        ProviderError: The first failure, when the calls of every candidate failed.
        SampleBudgetError: When the question's own cap did not cover all candidates.
    """
    given = tuple(candidates)
    run = run.child("check_statements")
    if not statements:
        run.note("fallback", reason="there are no check statements", to="the order given")
        return given[:top_k]
    told = f"{instruction or CHECKING}\n\n{CHECKED}"
    results = await run.settle(_check(problem, candidate, statements, run, player, told) for candidate in given)
    failures = [result for result in results if isinstance(result, SampleFailure)]
    checked: list[Candidate] = []
    for candidate, result in zip(given, results, strict=True):
        if isinstance(result, SampleBudgetError):
            # Which candidates a cap lets be checked is chance; an order made of that would be too.
            raise result
        if isinstance(result, SampleFailure):
            run.note("unchecked", candidate=candidate.id, failure=result.failure, reason=str(result), to="the end")
        checks = () if isinstance(result, SampleFailure) else result
        checked.append(replace(candidate, checks=checks))
    if failures and len(failures) == len(given):
        raise failures[0]
    scores = [sum(candidate.checks) if candidate.checks else -1 for candidate in checked]
    return best_scored(problem, checked, scores, top_k, run=run)


async def _check(
    problem: Problem, candidate: Candidate, statements: Sequence[str], run: Run, player: Player, told: str
) -> tuple[bool, ...]:
    turns = _check_turns(problem, candidate, statements, run, player, told)
    completion = await player.ask(run, turns, draw=0, keep_truncated=True)
    found = outcomes(completion.text, len(statements))
    if 2 * len(found) < len(statements):
        run.note("asked again", candidate=candidate.id, reason="too few results can be read", results=len(found))
        turns = followed(turns, completion.text, AGAIN, player, run)
        completion = await player.ask(run, turns, draw=1, keep_truncated=True)
        found |= outcomes(completion.text, len(statements))
    missing = [number for number in range(1, len(statements) + 1) if number not in found]
    if missing:
        run.note("fallback", candidate=candidate.id, reason="results are missing", statements=missing, to="failed")
    return tuple(found.get(number, False) for number in range(1, len(statements) + 1))


def _check_turns(
    problem: Problem, candidate: Candidate, statements: Sequence[str], run: Run, player: Player, told: str
) -> Turns:
    listing = "\n".join(f"{number}. {statement}" for number, statement in enumerate(statements, 1))
    checks = tagged("checks", listing)
    (shown,) = fit(problem, (candidate,), player, run, instruction=f"{checks}\n\n{told}", critiques=False)
    # What all candidates have in common stands first, so that a provider's prompt cache is hit.
    parts = [tagged("task", task_text(problem)), checks, tagged("candidate_1", shown.shown), CAUTION, told]
    return with_last_turn(problem, "\n\n".join(parts))
