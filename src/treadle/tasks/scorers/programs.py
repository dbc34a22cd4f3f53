"""Programs: right when they pass the hidden tests, each run apart from this process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from treadle.errors import ProviderError, UserError
from treadle.ledger.run import Run
from treadle.parsing.fences import fenced
from treadle.parsing.program_forms import normal_form
from treadle.parsing.reply_programs import program
from treadle.sandbox.base import Limits
from treadle.sandbox.code_tests import CodeReport, CodeTests, run_tests
from treadle.tasks.base import Sample, Score

HIDDEN_TESTS = "tests"
"""The name of a sample's hidden tests (a `CodeTests`) in ``Sample.hidden``."""
NO_PROGRAM = "no program was found in the reply"
_USUAL = Limits()


@dataclass(frozen=True, slots=True)
class ProgramScorer:
    """Right when the program in the reply passes all hidden tests of its sample.

    A program that crashes, hangs or takes too much memory is a wrong answer, with its cause. A reply without a program
    fails as ``format``. Two programs are one answer when they differ in comments, docstrings and layout only.

    Args:
        seconds: Wall clock that a program has for all its tests; what the sandbox allows where it is not given.
    """

    seconds: float | None = None
    judged: bool = False
    runs_code: bool = True
    answer_format: str = "Reply with the whole program in one ```python block."

    @property
    def name(self) -> str:
        """``tests``, with the time limit where one was given."""
        return "tests" if self.seconds is None else f"tests?seconds={self.seconds:g}"

    async def score(self, sample: Sample, answer: str, run: Run) -> Score:
        """Grade one answer.

        Raises:
            ProviderError: The sandbox did not run it: nobody knows whether it is right.
        """
        tests = hidden_tests(sample)
        if tests is None:
            raise UserError(f"sample {sample.id!r} has no hidden tests, which the scorer {self.name} runs")
        found = program(answer, sample.entry_point, str(sample.fields.get("header", "")))
        if found is None:
            return Score(0.0, "", NO_PROGRAM, "format")
        sandbox = run.sandbox
        limits: Limits = getattr(sandbox, "limits", _USUAL)
        if self.seconds is not None:
            limits = replace(limits, seconds=self.seconds, cpu_seconds=None)
        report = await run_tests(sandbox, found, tests, limits=limits, stop_at_first=True)
        if report.execution.status == "refused":
            raise ProviderError(f"the sandbox did not run the program: {report.execution.reason}")
        return Score(float(report.all_passed), found, _cause(report, limits))

    def same(self, a: str, b: str) -> bool:
        """Whether two replies hold the same program; one without a program is not even the same as itself."""
        first = _form(a)
        return bool(first) and first == _form(b)

    def show(self, target: Any) -> str:
        """A program as a reply."""
        return fenced(str(target).strip("\n"))


def hidden_tests(sample: Sample) -> CodeTests | None:
    """A sample's hidden tests, where it is one of a code task."""
    tests = sample.hidden.get(HIDDEN_TESTS)
    return tests if isinstance(tests, CodeTests) else None


def _cause(report: CodeReport, limits: Limits) -> str:
    """Why not all tests passed, in words; empty where they did."""
    if report.all_passed:
        return ""
    fault, execution = report.first_fault, report.execution
    if execution.status == "out_of_memory":
        return f"out of memory: {execution.reason}".rstrip(": ")
    if fault is None:
        return f"no test was run: {execution.reason or execution.stderr[-200:].strip()}".rstrip(": ")
    place = report.outcomes.index(fault) + 1
    where = f"test {place} of {len(report.outcomes)}" if len(report.outcomes) > 1 else "the test"
    words = {"timed_out": f"timed out after {limits.seconds:g} s", "error": "raised"}.get(fault.verdict, fault.verdict)
    return f"{where} {words}: {fault.reason}".rstrip(": ")


@lru_cache(maxsize=4096)
def _form(reply: str) -> str:
    """A vote compares every reply with every other: each is read once."""
    return normal_form(reply)
