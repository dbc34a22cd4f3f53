"""AlphaCodium: think about the task, write the program, and repair it on public and then on written tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from treadle.errors import TruncatedError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.code_agreement import write_code_tests
from treadle.operators.code_generate import WRITER, as_program, code_generate, code_text
from treadle.operators.executed_tests import passed, run_code_tests, was_run
from treadle.operators.fitting import squeeze
from treadle.operators.plans import reflect, write_plans
from treadle.operators.rank import rank
from treadle.operators.repair import repair_by_tests, rewrite
from treadle.operators.turns import Turns, tagged, with_last_turn
from treadle.sandbox.code_tests import CodeReport
from treadle.workflows.base import Calls
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import whole

VERSION = 1
RANKING = """\
The candidates are solutions in words, not programs. Decide which of them are the best to write a program from: first \
of all one must be correct, also at the edges; then it must be fast enough; of equals the simpler is better. Compare \
them in a few sentences."""
GUIDE = """\
What stands between tags before the task was thought about it beforehand; it may be mistaken, the task is not. Write \
the program that the task asks for after the solution given, with small functions and telling names."""


@dataclass(frozen=True, slots=True)
class AlphaCodium(NamedWorkflow):
    """Reflect, plan ``solutions``, write ``tests``, then write a program and repair it (Ridnik et al., 2401.08500).

    A program is written of one planned solution after another, the best ranked first, until one passes the public
    tests (without any: the written ones). The best goes on: ``rounds`` repairs at most on the public tests, then as
    many on written ones, one for each that fails; it counts only if every test that passed before still passes.
    """

    name: ClassVar[str] = "alphacodium"
    solutions: int = whole(3, least=1, most=10)
    tests: int = whole(6, least=0, most=30)
    rounds: int = whole(2, least=0, most=10)

    @property
    def runs_code(self) -> bool:
        """Always."""
        return True

    @property
    def calls(self) -> Calls:
        """Reflection, plans and a program at least; second asks for ranking, test cases and programs at most."""
        ranking, writing = min(self.solutions - 1, 1), min(self.tests, 1)
        repairs = self.rounds + min(self.rounds, self.tests)
        return Calls(3, 2 + 2 * ranking + 2 * writing + 2 * self.solutions + repairs, 3 + ranking + writing)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        reflection = await reflect(problem, run=run)
        plans = await write_plans(problem, reflection, run=run, n=self.solutions)
        plans = await rank(problem, plans, run=run, top_k=len(plans), instruction=RANKING)
        tests = await write_code_tests(problem, run=run, most=self.tests) if self.tests else ()
        first, report = await _first_sound(problem, reflection, plans, tests, run)
        draft = first
        if problem.public_tests and self.rounds:
            said = report and replace(report, outcomes=report.outcomes[: len(problem.public_tests)])
            draft = (await repair_by_tests(problem, first, run=run, retries=self.rounds, report=said)).candidate
        if tests and self.rounds:
            known = report if draft.text == first.text else None
            draft = await _anchored(problem, draft, tests, self.rounds, run, known)
        return draft.text


async def _first_sound(
    problem: Problem, reflection: str, plans: Sequence[Candidate], tests: Sequence[str], run: Run
) -> tuple[Candidate, CodeReport | None]:
    """The first program that passes what it must, else the one that passes most public tests, then most written."""
    run = run.child("first_sound")
    public = len(problem.public_tests)
    best: tuple[tuple[bool, int, int], Candidate, CodeReport | None] | None = None
    failure: TruncatedError | None = None
    for plan in plans or (Candidate("1", ""),):
        try:
            (program,) = await code_generate(problem, run=run, turns=_guided(problem, reflection, plan.text, run))
        except TruncatedError as error:
            failure = failure or error
            run.note("dropped", candidate=plan.id, failure=error.failure, reason=str(error))
            continue
        program, report, results = replace(program, id=plan.id), None, ()
        sound = as_program(problem, program) is not None
        if sound and (public or tests):
            report = await _run(problem, program, tests, run)
            results = passed(report)
        score = (sound, sum(results[:public]), sum(results[public:]))
        if best is None or score > best[0]:
            best = (score, program, report)
        if sound and all(results[:public] if public else results):
            break
    if best is None:
        assert failure is not None
        raise failure
    if not public and not tests:
        run.note("fallback", reason="there is no test to run", to="the first program")
    run.note("chosen", candidate=best[1].id, public=best[0][1], written=best[0][2])
    return best[1], best[2]


def _guided(problem: Problem, reflection: str, plan: str, run: Run) -> Turns:
    known = [Candidate(name, text) for name, text in (("reflection", reflection), ("solution", plan)) if text]

    def turns(shown: Sequence[Candidate]) -> Turns:
        material = [tagged(each.id, each.shown) for each in shown]
        return with_last_turn(problem, "\n\n".join([*material, *([GUIDE] if material else []), code_text(problem)]))

    return turns(squeeze(known, WRITER, run, turns) if known else ())


async def _run(problem: Problem, program: Candidate, tests: Sequence[str], run: Run) -> CodeReport:
    return await run_code_tests(problem, program, (*problem.public_tests, *tests), run=run, kind="public and written")


async def _anchored(
    problem: Problem, program: Candidate, tests: Sequence[str], rounds: int, run: Run, known: CodeReport | None
) -> Candidate:
    """The program repaired on one written test after another; tests that it passes are anchors and must stay so."""
    run = run.child("anchored")
    report = known or await _run(problem, program, tests, run)
    everything = (*problem.public_tests, *tests)
    begin, repairs = len(problem.public_tests), 0
    for place in range(begin, len(everything)):
        if repairs == rounds or not was_run(report):
            break
        if report.outcomes[place].verdict == "passed":
            continue
        repairs += 1
        new = await rewrite(problem, program, [everything[place]], [report.outcomes[place]], run=run, draw=repairs)
        if new is None:
            continue
        anew = await _run(problem, new, tests, run)
        if _keeps(report, anew) and anew.outcomes[place].verdict == "passed":
            program, report = new, anew
        else:
            run.note("dropped", candidate=new.id, failure="wrong", reason="it breaks a test that passed, or mends none")
    return program


def _keeps(before: CodeReport, after: CodeReport) -> bool:
    return all(now or not then for then, now in zip(passed(before), passed(after), strict=True))
