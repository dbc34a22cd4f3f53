"""Test cases that a model writes, and candidates ranked by what they agree on when all are run on all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.code_generate import as_program, code_text
from treadle.operators.executed_tests import passed, run_code_tests
from treadle.operators.fitting import followed
from treadle.operators.player import Player
from treadle.operators.ties import best_scored
from treadle.operators.turns import Turns, tagged, with_last_turn
from treadle.parsing.asserts import asserts, expression
from treadle.parsing.fences import syntax_tree
from treadle.parsing.python_names import defined_names
from treadle.parsing.templates import Template
from treadle.sandbox.base import Limits

VERSION = 1
MOST = 10
TESTER = Player("tester")
WRITING = """\
The task above is material: do not write the program. Write test cases by which any program for it can be checked: \
ordinary ones first, then the edges (empty, smallest, largest, equal, negative, whatever the task allows). Work the \
expected result of each out from the task, by hand; leave out a case whose result you are not sure of."""
FORM = Template("""\
Write {count} test cases as `assert` statements such as `assert {entry_point}(...) == ...`, each on a line of its own, \
with all values written out, in one block between ```python and ```, and nothing else.""")
AGAIN = Template("""\
There was no test case that can be used. Reply with {count} lines of the form `assert {entry_point}(...) == ...` and \
nothing else.""")


async def write_code_tests(
    problem: Problem,
    *,
    run: Run,
    n: int = 1,
    most: int = MOST,
    player: Player = TESTER,
    instruction: str | None = None,
) -> tuple[str, ...]:
    """Test cases for the function that a question wants (CodeT, arXiv 2207.10397, section 2.1).

    Only ``assert`` statements count that call the entry point and stand on their own
    (`treadle.parsing.asserts.asserts`); equal ones count once, and public tests are none of them. Of more than
    ``most`` the first count, in the order of the draws. Where the draws hold none there is one more ask; none then, or
    a question without an entry point, is noted.

    Args:
        problem: The question.
        run: Where the writer is asked.
        n: How many draws, all at once.
        most: How many are asked for in each, and taken in all.
        player: Who writes them.
        instruction: What to write, in place of `WRITING`; `FORM` follows it.
    """
    run = run.child("write_code_tests")
    name = problem.entry_point
    if name is None:
        run.note("fallback", reason="the question names no entry point", to="no test cases")
        return ()
    told = f"{instruction or WRITING}\n\n{FORM.fill(count=str(most), entry_point=name)}"
    turns = with_last_turn(problem, f"{tagged('task', code_text(problem))}\n\n{told}")
    again = AGAIN.fill(count=str(most), entry_point=name)
    found = (await _written(problem, name, turns, again, n, run, player))[:most]
    if found:
        run.note("test cases", tests=found)
    else:
        run.note("fallback", reason="no test case can be used", to="no test cases")
    return tuple(found)


async def _written(
    problem: Problem, entry_point: str, turns: Turns, again: str, n: int, run: Run, player: Player
) -> list[str]:
    """The test cases of n draws, or of one more ask where they hold none."""
    replies = await run.gather(_ask(turns, draw, run, player) for draw in range(n))
    found = _usable(problem, entry_point, replies)
    if found:
        return found
    run.note("asked again", reason="no test case can be used")
    asked = followed(turns, replies[0], again, player, run)
    return _usable(problem, entry_point, [await _ask(asked, n, run, player)])


async def _ask(turns: Turns, draw: int, run: Run, player: Player) -> str:
    return (await player.ask(run, turns, draw=draw, keep_truncated=True)).text


def _usable(problem: Problem, entry_point: str, replies: Sequence[str]) -> list[str]:
    tree = syntax_tree(str(problem.fields.get("setup") or ""))
    known = set[str]() if tree is None else defined_names(tree)
    public = {expression(test) for test in problem.public_tests}
    unique: dict[str | None, str] = {}
    for reply in replies:
        for test in asserts(reply, entry_point, known):
            unique.setdefault(expression(test), test)
    return [test for key, test in unique.items() if key not in public]


async def rank_by_agreement(
    problem: Problem,
    candidates: Sequence[Candidate],
    tests: Sequence[str],
    *,
    run: Run,
    top_k: int | None = None,
    limits: Limits | None = None,
) -> tuple[Candidate, ...]:
    """The candidates in the order of how many agree with them on how many tests (CodeT, arXiv 2207.10397, section 2.2).

    Every candidate is run on every test. Those that pass the same tests are a consensus set, whose score is the number
    of its candidates times the number of the tests that they pass. Above that score stands how many public tests a
    candidate passes, and above that whether it is a sound program. Equal ones stand in the order of
    `treadle.operators.ties.tie_order`. `Candidate.checks` are the tests, in their order.

    Args:
        problem: The question; its public tests, where it has some, are run as well.
        candidates: In their order.
        tests: What `write_code_tests` gave, or any others.
        run: Where they are run, all candidates at once.
        top_k: How many to keep; all where it is not given.
        limits: Of the whole run of one candidate; those of the sandbox where they are not given.
    """
    given = tuple(candidates)
    run = run.child("rank_by_agreement")
    public = problem.public_tests
    if not tests and not public:
        run.note("fallback", reason="there is no test to run", to="the order given")
        return given[:top_k]
    both = (*public, *tests)
    reports = await run.gather(
        run_code_tests(problem, each, both, run=run, kind="public and written", limits=limits) for each in given
    )
    results = [passed(report) for report in reports]
    scores = _scores([as_program(problem, each) is not None for each in given], results, len(public))
    written = [result[len(public) :] for result in results]
    run.note("consensus", sets=[[count, sum(own)] for own, count in Counter(written).most_common()])
    checked = [replace(each, checks=own) for each, own in zip(given, written, strict=True)]
    return best_scored(problem, checked, scores, top_k, run=run)


def _scores(sound: Sequence[bool], results: Sequence[tuple[bool, ...]], public: int) -> list[int]:
    """One number for soundness, then public tests passed, then the score of the consensus set."""
    sizes = Counter(result[public:] for result in results)
    most = 1 + len(results) * (len(results[0]) - public)
    firsts = [(public + 1) * is_sound + sum(result[:public]) for is_sound, result in zip(sound, results, strict=True)]
    agreed = [sizes[result[public:]] * sum(result[public:]) for result in results]
    return [most * first + own for first, own in zip(firsts, agreed, strict=True)]
