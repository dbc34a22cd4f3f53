"""Tests that are really run: of candidates in the sandbox, and the choice that they make."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.code_generate import as_program, source
from treadle.operators.ties import best_scored
from treadle.parsing.fences import syntax_tree
from treadle.parsing.program_forms import normal_form
from treadle.parsing.python_names import defined_names
from treadle.sandbox.base import Limits
from treadle.sandbox.code_tests import CodeReport, CodeTests, run_tests

VERSION = 1
SECONDS_PER_TEST = 3.0
_REASON = 300


async def run_public_tests(
    problem: Problem, candidate: Candidate, *, run: Run, limits: Limits | None = None
) -> CodeReport:
    """Run the tests that the question shows against a candidate; what came of them is noted.

    Args:
        problem: The question, with at least one public test.
        candidate: A reply; one without a program passes nothing.
        run: Where the program is run.
        limits: Of the whole run; those of the sandbox where they are not given.
    """
    return await run_code_tests(problem, candidate, problem.public_tests, run=run, kind="public", limits=limits)


async def run_code_tests(
    problem: Problem,
    candidate: Candidate,
    tests: Sequence[str],
    *,
    run: Run,
    kind: str,
    limits: Limits | None = None,
) -> CodeReport:
    """Run tests against a candidate; what came of them is noted.

    What a task gives besides (fields ``setup`` and ``modules``) is there for the tests.

    Args:
        problem: The question.
        candidate: A reply; one without a program passes nothing.
        tests: Pieces of Python that call the entry point.
        run: Where the program is run.
        kind: What the tests are called in the trace.
        limits: Of the whole run; those of the sandbox where they are not given.
    """
    program = source(problem, candidate)
    code_tests = _code_tests(problem, program, tests)
    await run.sandbox.open()
    within = limits or run.sandbox.limits
    per_test = min(SECONDS_PER_TEST, within.seconds)
    report = await run_tests(run.sandbox, program, code_tests, limits=within, seconds_per_test=per_test)
    _note(candidate, kind, report, run)
    return report


def _note(candidate: Candidate, kind: str, report: CodeReport, run: Run) -> None:
    fault = report.first_fault
    run.note(
        "tested",
        candidate=candidate.id,
        tests=kind,
        passed=report.passed,
        of=len(report.outcomes),
        verdicts=[outcome.verdict for outcome in report.outcomes],
        reason="" if fault is None else fault.reason[:_REASON],
    )


def _code_tests(problem: Problem, program: str, tests: Sequence[str]) -> CodeTests:
    setup = str(problem.fields.get("setup") or "")
    names = _entry_points(problem, program, (setup, *tests))
    return CodeTests(tuple(tests), names, setup, modules=_modules(problem.fields.get("modules")))


def _entry_points(problem: Problem, program: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The entry point, and whatever else the setup (the first text) and the tests take from the program."""
    tree = syntax_tree(program)
    defined = set[str]() if tree is None else defined_names(tree, imports=False)
    before, *rest = [syntax_tree(text) or ast.Module([], []) for text in texts]
    used = {node.id for tree in (before, *rest) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = [problem.entry_point] if problem.entry_point else []
    return tuple(dict.fromkeys([*names, *sorted((used & defined) - defined_names(before))]))


def _modules(given: Any) -> Mapping[str, str]:
    return cast("Mapping[str, str]", given) if isinstance(given, Mapping) else {}


async def select_by_tests(
    problem: Problem,
    candidates: Sequence[Candidate],
    *,
    run: Run,
    top_k: int | None = None,
    limits: Limits | None = None,
) -> tuple[Candidate, ...]:
    """The candidates in the order of how many public tests they pass, with `Candidate.checks`.

    All are run at once. Those without a sound program stand last. Of candidates that pass as many, the one whose
    program more of the others wrote as well (but for comments and layout) stands first; still equal ones stand in the
    order of `treadle.operators.ties.tie_order`. Without public tests nothing is run and the order given stands, which
    is noted.

    Args:
        problem: The question.
        candidates: In their order.
        run: Where they are run.
        top_k: How many to keep; all where it is not given.
        limits: Of the whole run of one candidate; those of the sandbox where they are not given.
    """
    given = tuple(candidates)
    run = run.child("select_by_tests")
    if not problem.public_tests:
        run.note("fallback", reason="the question has no public tests", to="the order given")
        return given[:top_k]
    reports = await run.gather(run_public_tests(problem, each, run=run, limits=limits) for each in given)
    checked = [replace(each, checks=passed(report)) for each, report in zip(given, reports, strict=True)]
    forms = [normal_form(each.text) for each in given]
    sound = [1 + len(problem.public_tests) if as_program(problem, each) else 0 for each in given]
    shares = [forms.count(own) / (1 + len(given)) if own else 0.0 for own in forms]
    scores = [first + report.passed + share for first, report, share in zip(sound, reports, shares, strict=True)]
    return best_scored(problem, checked, scores, top_k, run=run)


def passed(report: CodeReport) -> tuple[bool, ...]:
    """Whether each test passed, in their order.

    Args:
        report: What tests said of a program.
    """
    return tuple(outcome.verdict == "passed" for outcome in report.outcomes)


def was_run(report: CodeReport) -> bool:
    """Whether any test was run at all, so that its report says something of the program.

    Args:
        report: What tests said of a program.
    """
    return report.execution.status != "refused" and any(outcome.verdict != "not_run" for outcome in report.outcomes)
