"""Tests of programs: run so that a program can neither see, change nor answer for them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from treadle.errors import SandboxError
from treadle.sandbox import bundle
from treadle.sandbox.base import ExecResult, Limits, Program, Sandbox
from treadle.sandbox.tested_names import tested_names

Verdict = Literal["passed", "failed", "error", "timed_out", "crashed", "not_run"]
"""What one test came to.

``failed``: an assertion did not hold. ``error``: something else was raised, by the program or the test, or the program
has no such name. ``crashed``: the program's process ended: by a signal, ``os._exit`` or ``SystemExit``.
"""


@dataclass(frozen=True, slots=True)
class CodeTests:
    """Tests in Python.

    Attributes:
        tests: Pieces of Python, each a test that passes when it runs to its end.
        entry_points: Names of the program that tests may use: functions and classes of its top level.
        setup: Python run once before the tests, in their process and never in the program's: imports, functions that
            the question brings.
        check: A function that a test defines and that is called with the first entry point afterwards (HumanEval's
            ``check(candidate)``).
        modules: Modules that the program and the tests may import: name to source.
        framework: ``plain``, or ``pytest`` where a test is the text of a pytest file that imports the program as the
            module ``module``.
        module: The name under which tests may import the program; empty for none.
        files: Texts that a pytest file finds beside itself when it opens them: name to text. They exist in the tests'
            process only.
    """

    tests: tuple[str, ...]
    entry_points: tuple[str, ...] = ()
    setup: str = ""
    check: str | None = None
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    framework: Literal["plain", "pytest"] = "plain"
    module: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What one test came to; ``reason`` says why it did not pass, with the values that were compared where known."""

    __test__ = False

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CodeReport:
    """What tests said of a program.

    Attributes:
        outcomes: In the order of the tests.
        execution: The run of the program and the tests together; its output is no concern of anybody.
        separate: Whether the tests ran in a process of their own. If not, a hostile program can cheat; an honest one,
            right or wrong, is judged all the same.
    """

    outcomes: tuple[TestOutcome, ...]
    execution: ExecResult
    separate: bool = True

    @property
    def passed(self) -> int:
        """How many tests passed."""
        return sum(outcome.verdict == "passed" for outcome in self.outcomes)

    @property
    def all_passed(self) -> bool:
        """Whether all passed; false without any."""
        return bool(self.outcomes) and self.passed == len(self.outcomes)

    @property
    def first_fault(self) -> TestOutcome | None:
        """The first test that did not pass, or ``None``."""
        return next((outcome for outcome in self.outcomes if outcome.verdict != "passed"), None)


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    run: str
    test: int
    verdict: Verdict
    reason: str


_LINES = msgspec.json.Decoder(_Line)
_BYTES_PER_TEST = 4096
_PROCESSES = 4
_MARGIN = 0.3
_NO_PYTHON = "monty"


async def run_tests(
    sandbox: Sandbox,
    program: str,
    tests: CodeTests,
    *,
    limits: Limits,
    stop_at_first: bool = False,
    seconds_per_test: float | None = None,
) -> CodeReport:
    """Run tests against a program.

    The tests run in one process; the program in another that answers calls with plain values, see
    `treadle.sandbox.guest.wire`. Without processes both share an interpreter (``CodeReport.separate``).

    Args:
        sandbox: Where both run.
        program: Python source; it may be no program at all.
        tests: The tests.
        limits: Of the whole run.
        stop_at_first: Whether the tests after the first that does not pass are left out (``not_run``).
        seconds_per_test: Wall clock of each test; after one that takes longer the rest goes on with a fresh process.

    Raises:
        SandboxError: This sandbox cannot run tests at all.
    """
    if sandbox.name == _NO_PYTHON:
        raise SandboxError(f"{sandbox.name} runs a part of Python only and no tests; name another sandbox")
    if not tests.tests:
        return CodeReport((), ExecResult("ok"))
    separate = sandbox.traits.processes
    guests = bundle.PYTEST if tests.framework == "pytest" else bundle.SEPARATE
    job = _job(program, tests)
    plan = _plan(tests, job, limits.seconds) | {"seconds_per_test": seconds_per_test, "stop_at_first": stop_at_first}
    plan["run"] = _mark(job, plan)
    execution = await sandbox.execute(
        Program(bundle.LOADER),
        stdin=bundle.modules(guests if separate else bundle.ALONE) + bundle.part(job) + bundle.part(plan),
        limits=_enough(limits, len(tests.tests)),
    )
    return CodeReport(_outcomes(execution, plan["run"], len(tests.tests)), execution, separate)


def _job(program: str, tests: CodeTests) -> dict[str, Any]:
    """What the program's process is told: of the tests no more than which names they use."""
    return {
        "source": _text(program),
        "name": tests.module or "solution",
        "modules": {name: _text(text) for name, text in tests.modules.items()},
        "entries": tested_names(tests.module, tests.entry_points, tests.tests, tests.setup),
    }


def _plan(tests: CodeTests, job: dict[str, Any], seconds: float) -> dict[str, Any]:
    return {
        "names": job["entries"],
        "seconds": seconds - min(_MARGIN, seconds / 10),
        "entries": list(dict.fromkeys(tests.entry_points)),
        "tests": [_text(test) for test in tests.tests],
        "setup": _text(tests.setup),
        "check": tests.check,
        "framework": tests.framework,
        "module": tests.module,
        "files": {name: _text(text) for name, text in tests.files.items()},
    }


def _enough(limits: Limits, tests: int) -> Limits:
    """Limits under which the harness itself, three processes that say something of each test, can work."""
    return replace(
        limits,
        processes=max(limits.processes, _PROCESSES),
        output_bytes=max(limits.output_bytes, 2 * _BYTES_PER_TEST * tests),
    )


def _mark(job: dict[str, Any], plan: dict[str, Any]) -> str:
    """What marks the tester's words: unknown to who does not know the tests, and the same for the same work."""
    return hashlib.blake2b(bundle.part((job, plan)), digest_size=16).hexdigest()


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _outcomes(execution: ExecResult, run: str, count: int) -> tuple[TestOutcome, ...]:
    """What the tester wrote, as far as it came; nobody else knows the mark of the run."""
    outcomes: list[TestOutcome] = []
    for line in execution.stdout.splitlines():
        try:
            said = _LINES.decode(line)
        except (msgspec.DecodeError, UnicodeEncodeError):
            break
        if said.run != run or said.test != len(outcomes) or len(outcomes) == count:
            break
        outcomes.append(TestOutcome(said.verdict, said.reason))
    if len(outcomes) < count:
        outcomes.append(_lost(execution))
    rest = TestOutcome("not_run", "the run ended before it")
    return (*outcomes, *[rest] * (count - len(outcomes)))


def _lost(execution: ExecResult) -> TestOutcome:
    """What became of the test during which the run ended."""
    why = execution.reason or execution.stderr.strip()[-300:] or "the run of the tests ended"
    if execution.status == "timed_out":
        return TestOutcome("timed_out", why)
    return TestOutcome("not_run" if execution.status == "refused" else "crashed", why)


_GOOD = "def double(n):\n    return 2 * n\n"
_CANARIES: tuple[tuple[str, str, tuple[Verdict, ...]], ...] = (
    ("a right program", _GOOD, ("passed",)),
    ("a wrong program", "def double(n):\n    return n\n", ("failed",)),
    ("a program that raises", "def double(n):\n    raise AssertionError\n", ("error",)),
    ("sys.exit(0) while loading", _GOOD + "import sys\nsys.exit(0)\n", ("crashed",)),
    ("sys.exit(0) in a call", "def double(n):\n    raise SystemExit(0)\n", ("crashed",)),
    ("os._exit(0)", "import os\ndef double(n):\n    os._exit(0)\n", ("crashed",)),
    ("a killed program", "import os\ndef double(n):\n    os.kill(os.getpid(), 9)\n", ("crashed",)),
    ("an endless program", "def double(n):\n    while True: pass\n", ("timed_out",)),
)
_CANARY_SECONDS = 0.2
_ENDLESS_SECONDS = 1.0
"""Of the whole run of the endless canary: what ends it where tests have no clock of their own."""


async def canaries(sandbox: Sandbox, limits: Limits) -> str | None:
    """Try programs whose verdicts are known, before any is believed.

    Args:
        sandbox: Where programs are to be graded.
        limits: What each may take there.

    Returns:
        What is wrong, or ``None``.
    """
    separate = sandbox.traits.processes
    tests = CodeTests(("assert double(21) == 42",), ("double",))
    wanted = [canary for canary in _CANARIES if separate or "os." not in canary[1]]
    endless = replace(limits, seconds=min(limits.seconds, _ENDLESS_SECONDS))
    reports = await asyncio.gather(
        *(
            run_tests(sandbox, program, tests, limits=endless, seconds_per_test=_CANARY_SECONDS)
            if verdicts == ("timed_out",)
            else run_tests(sandbox, program, tests, limits=limits)
            for _, program, verdicts in wanted
        )
    )
    for (name, _, verdicts), report in zip(wanted, reports, strict=True):
        outcome = report.outcomes[0]
        if outcome.verdict not in verdicts and (separate or (outcome.verdict == "passed") != (verdicts == ("passed",))):
            return f"{name} was judged {outcome.verdict!r} instead of {verdicts[0]!r}: {outcome.reason or 'no reason'}"
    return None
