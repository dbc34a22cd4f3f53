"""Best of n: several answers, of which a judge or tests that are run pick one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.code_agreement import rank_by_agreement, write_code_tests
from treadle.operators.code_generate import as_program
from treadle.operators.executed_tests import select_by_tests
from treadle.operators.generate import generate
from treadle.operators.pick_best import pick_best
from treadle.operators.prefer import knock_out
from treadle.operators.vote import vote
from treadle.parsing.program_forms import normal_form
from treadle.workflows.base import Calls
from treadle.workflows.named import NamedWorkflow
from treadle.workflows.settings import one_of, whole

VERSION = 1


@dataclass(frozen=True, slots=True)
class BestOfN(NamedWorkflow):
    """Draw ``n`` plain answers and keep the one that the role ``judge`` or the tests that are run find best.

    With ``judge=list`` the judge sees all at once; with ``judge=pairs`` each in turn meets the best so far, in both
    orders (Zheng et al., arXiv 2306.05685), which costs more and is not swayed by places. With ``judge=tests`` the
    answers are programs, and the one that passes most public tests is kept (Li et al., AlphaCode, arXiv 2203.07814),
    at no further call; with ``judge=agreement`` the role ``tester`` writes test cases besides, and what most programs
    agree on decides among those that pass as many public tests (Chen et al., CodeT, arXiv 2207.10397).
    """

    name: ClassVar[str] = "best-of-n"
    n: int = whole(5, least=1, most=100, shown=True)
    judge: Literal["list", "pairs", "tests", "agreement"] = one_of("list", ("list", "pairs", "tests", "agreement"))

    @property
    def runs_code(self) -> bool:
        """Where tests decide."""
        return self.judge in ("tests", "agreement")

    @property
    def calls(self) -> Calls:
        """No judge where all drafts are one answer; every verdict, and the test cases, may take a second ask."""
        verdicts = {"tests": 0, "pairs": 2 * (self.n - 1)}.get(self.judge, min(self.n - 1, 1))
        return Calls(self.n, self.n + 2 * verdicts)

    async def __call__(self, problem: Problem, run: Run) -> str:
        """Answer a problem."""
        drafts = await generate(problem, run=run, n=self.n)
        if self.runs_code:
            return (await _tested(problem, drafts, self.judge == "agreement", run)).text
        pick = pick_best if self.judge == "list" else knock_out
        best = await pick(problem, drafts, run=run)
        return best.text


async def _tested(problem: Problem, drafts: Sequence[Candidate], agreement: bool, run: Run) -> Candidate:
    sound = [as_program(problem, draft) for draft in drafts]
    programs = [program or draft for program, draft in zip(sound, drafts, strict=True)]
    if len({normal_form(program.text) or program.text for program in programs}) == 1:
        return programs[0]
    tests = await write_code_tests(problem, run=run) if agreement else ()
    if not tests and not problem.public_tests:
        run.note("fallback", reason="there is no test to run", to="vote")
        voting = [draft for draft, program in zip(drafts, sound, strict=True) if program] if problem.entry_point else []
        return await vote(problem, voting or drafts, run=run)
    if tests:
        ranked = await rank_by_agreement(problem, programs, tests, run=run, top_k=1)
    else:
        ranked = await select_by_tests(problem, programs, run=run, top_k=1)
    return ranked[0]
