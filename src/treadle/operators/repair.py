"""Running the public tests of a program, and writing it anew in the light of what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from treadle.errors import TruncatedError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.code_generate import WRITER, as_program, code_turns, fault, source
from treadle.operators.executed_tests import passed, run_public_tests, was_run
from treadle.operators.fitting import followed
from treadle.operators.player import Player
from treadle.operators.turns import tagged
from treadle.parsing.fences import fenced
from treadle.parsing.templates import Template
from treadle.sandbox.code_tests import CodeReport, TestOutcome

VERSION = 1
RETRIES = 3
REPAIR = Template("""\
The program above was run and does not pass every test. What failed stands between tags:

{failures}

{told}""")
REFLECT = """\
First reflect, in a few sentences: follow the program through what failed, compare what came out with what the task \
wants, and name the mistake. Mend the cause; do not write the expected results of these tests into the program. Then \
write the whole program anew, in one block between ```python and ```."""
_SHOWN = 3
_TEST, _REASON = 1500, 1500


@dataclass(frozen=True, slots=True)
class Tested:
    """A candidate with what its public tests said.

    Attributes:
        candidate: The candidate; its ``checks`` are the public tests, in their order.
        report: What they said; ``None`` where there were none to run.
    """

    candidate: Candidate
    report: CodeReport | None = None

    @property
    def passed(self) -> bool:
        """Whether it passed all of them; false without any."""
        return self.report is not None and self.report.all_passed


async def repair_by_tests(
    problem: Problem,
    candidate: Candidate,
    *,
    run: Run,
    retries: int = RETRIES,
    player: Player = WRITER,
    instruction: str | None = None,
    report: CodeReport | None = None,
) -> Tested:
    """The candidate, written anew until it passes the public tests (AFlow's Test operator, arXiv 2410.10762).

    Each retry is one call that sees the program with the tests that failed, what came out and what was expected; it
    reflects first. A new program that passes fewer tests than the one before is dropped, as is a reply without a
    program; both take a retry and are noted. Without public tests, or where the sandbox ran none, the candidate stays
    as it is, which is noted.

    Args:
        problem: The question.
        candidate: Its program.
        run: Where tests are run and the writer is asked.
        retries: How often the program may be written anew.
        player: Who writes.
        instruction: What to do about the failures, in place of `REFLECT`.
        report: What the public tests said of the candidate, where they were run already.
    """
    run = run.child("repair_by_tests")
    if not problem.public_tests:
        run.note("fallback", reason="the question has no public tests", to="the program as it is")
        return Tested(candidate)
    best = await _tested(problem, candidate, run, report)
    for attempt in range(retries):
        if best.passed or best.report is None:
            break
        best = await _improved(problem, best, candidate.id, attempt, run, player, instruction)
    if not best.passed:
        run.note("not repaired", candidate=best.candidate.id)
    return best


async def _improved(
    problem: Problem, best: Tested, name: str, attempt: int, run: Run, player: Player, instruction: str | None
) -> Tested:
    """The program after one retry: the new one, or the one before."""
    before = best.report
    assert before is not None
    shown = (problem, best.candidate, problem.public_tests, before.outcomes)
    new = await rewrite(*shown, run=run, draw=attempt, player=player, instruction=instruction)
    if new is None:
        return best
    tested = await _tested(problem, replace(new, id=f"{name}.{attempt + 1}"), run)
    if tested.report is not None and tested.report.passed >= before.passed:
        return tested
    run.note("dropped", candidate=tested.candidate.id, failure="wrong", reason="it passes fewer tests")
    return best


async def _tested(problem: Problem, candidate: Candidate, run: Run, report: CodeReport | None = None) -> Tested:
    report = report or await run_public_tests(problem, candidate, run=run)
    if not was_run(report):
        reason = report.execution.reason or "the sandbox ran no test"
        run.note("fallback", reason=reason, to="the program as it is")
        return Tested(candidate)
    return Tested(replace(candidate, checks=passed(report)), report)


async def rewrite(
    problem: Problem,
    candidate: Candidate,
    tests: Sequence[str],
    outcomes: Sequence[TestOutcome],
    *,
    run: Run,
    draw: int = 0,
    player: Player = WRITER,
    instruction: str | None = None,
) -> Candidate | None:
    """The program written anew by one call that sees what failed.

    Args:
        problem: The question.
        candidate: Its program.
        tests: Tests that were run.
        outcomes: What each of them came to; those that failed are shown, three at most.
        run: Where the writer is asked.
        draw: Which of the independent draws.
        player: Who writes.
        instruction: What to do, in place of `REFLECT`.

    Returns:
        ``None`` where the reply holds no sound program or was cut by its token limit, which is noted.
    """
    program = source(problem, candidate)
    told = REPAIR.fill(failures=_failures(tests, outcomes), told=instruction or REFLECT)
    turns = followed(code_turns(problem), fenced(program), told, player, run)
    try:
        completion = await player.ask(run, turns, draw=draw)
    except TruncatedError as error:
        run.note("fallback", reason=str(error), to="the program before")
        return None
    new = as_program(problem, candidate.revised(completion.text))
    if new is None:
        run.note("fallback", reason=fault(problem, completion.text) or "", to="the program before")
    return new


def _failures(tests: Sequence[str], outcomes: Sequence[TestOutcome]) -> str:
    failed = [(test, each) for test, each in zip(tests, outcomes, strict=True) if each.verdict != "passed"]
    shown = [
        f"{tagged('test', test[:_TEST])}\n{tagged('outcome', f'{each.verdict}: {each.reason}'[:_REASON])}"
        for test, each in failed[:_SHOWN]
    ]
    return "\n\n".join(shown)
