"""Tests of programs: what each comes to, why, and what of a program's values arrives at them."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from treadle.errors import SandboxError
from treadle.sandbox.base import Command, ExecResult, Limits, Program, Surroundings, Traits
from treadle.sandbox.code_tests import CodeReport, CodeTests, canaries, run_tests
from treadle.sandbox.unprotected import Unprotected

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are tested in processes that fork")

LIMITS = Limits(seconds=10)
BOX = Unprotected()
LONG = repr(list(range(200)))[:119] + "…"


async def outcome(program: str, test: str, **what: Any) -> tuple[str, str]:
    """Verdict and reason of one test; the program's entry point is ``f`` where no other is named."""
    named: Any = {"entry_points": ("f",), **what}
    report = await run_tests(BOX, program, CodeTests((test,), **named), limits=LIMITS, seconds_per_test=5)
    return report.outcomes[0].verdict, report.outcomes[0].reason


async def test_a_test_passes_fails_or_says_what_was_raised_and_where() -> None:
    program = "def f(n):\n    if n > 9:\n        raise ValueError(f'{n} is too large')\n    return n + 1\n"
    tests = CodeTests(("assert f(1) == 2", "assert f(2) == 4", "assert f(10) == 11", "assert g(1)"), ("f",))
    report = await run_tests(BOX, program, tests, limits=LIMITS)
    assert [(found.verdict, found.reason) for found in report.outcomes] == [
        ("passed", ""),
        ("failed", "f(2) == 4: got 3, expected 4"),
        ("error", "ValueError: 10 is too large (line 3 of f: raise ValueError(f'{n} is too large')) in f(10)"),
        ("error", "the test: NameError: name 'g' is not defined"),
    ]
    assert (report.passed, report.all_passed, report.separate) == (1, False, True)
    assert report.first_fault == report.outcomes[1]


@pytest.mark.parametrize(
    ("program", "test", "reason"),
    [
        ("def f(a): return a[::-1]", "assert f([1, 2]) == [1, 2]", "f([1, 2]) == [1, 2]: got [2, 1], expected [1, 2]"),
        ("def f(a): return 3", "assert 4 == f(0)", "4 == f(0): got 3, expected 4"),
        ("def f(a): return 1.0", "assert f('x') == '1.0'", "f('x') == '1.0': got 1.0 (float), expected '1.0' (str)"),
        ("def f(a): return a", "for n in [5]:\n    assert f(n) == 6", "f(5): got 5, expected 6"),
        (
            "def f(a): return 0.5",
            "assert abs(f(1.3) - 0.3) < 0.1",
            "abs(f(1.3) - 0.3) < 0.1: left is 0.2, right is 0.1; f(1.3) gave 0.5",
        ),
        ("def f(a): return True", "assert not f(1)", "not f(1): got True"),
        ("def f(a): return []", "assert f(1), 'something'", "f(1): got []; something"),
        (
            "def f(n): return [i if i != 70 else 0 for i in range(n)]",
            "assert f(200) == list(range(200))",
            f"f(200) == list(range(200)): got {LONG}, expected {LONG}; first different at 70: 0, not 70",
        ),
    ],
)
async def test_a_failed_assertion_names_what_it_compared(program: str, test: str, reason: str) -> None:
    assert await outcome(program, test) == ("failed", reason)


async def test_humaneval_calls_check_with_the_entry_point() -> None:
    test = "def check(candidate):\n    assert candidate(helper(1)) == 3\n"
    setup = "def helper(n):\n    return n + 1\ndef f(n):\n    '''a stub of the question'''\n"
    assert await outcome("def f(n): return n + 1", test, setup=setup, check="check") == ("passed", "")
    verdict, reason = await outcome("def f(n): return n", test, setup=setup, check="check")
    assert (verdict, reason) == ("failed", "f(2): got 2, expected 3")
    missing = await outcome("def g(n): return n", test, setup=setup, check="check")
    assert missing == ("error", "NameError: the program defines no f; its names: g")


@pytest.mark.parametrize(
    ("program", "verdict", "reason"),
    [
        ("def f(", "error", "SyntaxError: '(' was never closed (solution.py, line 1)"),
        ("", "error", "NameError: the program defines no f; its names: none"),
        ("x\0y", "error", "source code string cannot contain null bytes"),
        ("\ud800", "error", "SyntaxError"),
        ("import nowhere", "error", "ModuleNotFoundError: No module named 'nowhere' (line 1: import nowhere)"),
        ("import sys\nsys.exit(0)", "crashed", "the program ended itself with SystemExit: 0 (line 2: sys.exit(0))"),
        ("import os\nos._exit(3)", "crashed", "the program's process ended with exit code 3"),
        ("import os\nos.abort()", "crashed", "the program's process was killed by signal 6 (SIGABRT)"),
        ("f = 3", "error", "the test: TypeError: 'int' object is not callable"),
        ("f = input", "error", "EOFError: EOF when reading a line in f(1)"),
    ],
)
async def test_a_program_that_is_none_fails_every_test(program: str, verdict: str, reason: str) -> None:
    found = await run_tests(BOX, program, CodeTests(("assert f(1)", "assert f(1)"), ("f",)), limits=LIMITS)
    assert [one.verdict for one in found.outcomes] == [verdict, verdict]
    assert all(reason in one.reason for one in found.outcomes)


async def test_a_program_for_the_command_line_is_not_started_as_one() -> None:
    program = "def f(n):\n    return n\nif __name__ == '__main__':\n    print(f(int(input())))\n"
    assert await outcome(program, "assert f(1) == 1") == ("passed", "")
    noisy = "from __future__ import annotations\nprint('x' * 10**7)\ndef f(n: N): return n"
    assert await outcome(noisy, "assert f(1)") == ("passed", "")


async def test_after_a_hang_or_a_crash_the_next_test_gets_a_fresh_program() -> None:
    program = "import os\ndef f(n):\n    while n == 1: pass\n    if n == 2: os._exit(0)\n    return n\n"
    tests = CodeTests(("assert f(1)", "assert f(2)", "assert f(3)"), ("f",))
    report = await run_tests(BOX, program, tests, limits=LIMITS, seconds_per_test=0.3)
    assert [(found.verdict, found.reason) for found in report.outcomes] == [
        ("timed_out", "f(1) did not return within 0.3 s"),
        ("crashed", "the program's process ended with exit code 0 in f(2)"),
        ("passed", ""),
    ]


async def test_the_time_of_the_whole_run_ends_it_with_what_is_known() -> None:
    program = "def f(n):\n    while n: pass\n    return n\n"
    tests = CodeTests(("assert f(0) == 0", "assert f(1)", "assert f(0) == 0"), ("f",))
    report = await run_tests(BOX, program, tests, limits=Limits(seconds=1))
    assert [found.verdict for found in report.outcomes] == ["passed", "timed_out", "not_run"]
    assert report.outcomes[1].reason == "f(1) did not return before the time of the whole run was over"


async def test_a_program_that_never_loads_costs_one_clock() -> None:
    tests = CodeTests(("assert f(1)",) * 50, ("f",))
    report = await run_tests(BOX, "while True: pass", tests, limits=LIMITS, seconds_per_test=0.3)
    assert {found.verdict for found in report.outcomes} == {"timed_out"}
    assert report.first_fault is not None
    assert report.first_fault.reason == "the program was still being loaded within 0.3 s"


async def test_tests_after_the_first_that_fails_can_be_left_out() -> None:
    tests = CodeTests(("assert f(1) == 1", "assert f(1) == 2", "assert f(1) == 1"), ("f",))
    report = await run_tests(BOX, "def f(n): return n", tests, limits=LIMITS, stop_at_first=True)
    assert [found.verdict for found in report.outcomes] == ["passed", "failed", "not_run"]


CROSSING = [
    ("def f(a): return a", "a = [1, {'k': (2, {3})}, b'x', 1.5, None, 10**50]; assert f(a) == a and f(a) is a"),
    ("def f(a): a.sort()", "a = [3, 1, 2]; assert f(a) is None and a == [1, 2, 3]"),
    ("def f(d, s): d['new'] = [1]; s.discard(1)", "d, s = {}, {1, 2}; f(d, s); assert d == {'new': [1]} and s == {2}"),
    ("def f(a): a[0].append(a)", "a = [[]]; f(a); assert a[0][0] is a"),
    ("def f(n): return (i * i for i in range(n))", "assert list(f(3)) == [0, 1, 4] and sum(f(1000)) == 332833500"),
    ("import itertools\ndef f(): return itertools.count(1)", "g = f(); assert [next(g) for _ in range(9)][8] == 9"),
    (
        "def f():\n    yield 1\n    raise KeyError('k')",
        "g = f()\nassert next(g) == 1\ntry: next(g)\nexcept KeyError: pass",
    ),
    (
        "def f(g, n): return [g(i) for i in range(n)]",
        "assert f(lambda i: i + 1, 3) == [1, 2, 3] and f(str, 1) == ['0']",
    ),
    ("def f(items): return sum(items)", "assert f(iter([1, 2])) == 3 and f(i for i in (4, 5)) == 9"),
    ("def f(): return lambda n: n + 1", "assert f()(1) == 2"),
    ("from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return P(1, 2)", "assert f() == (1, 2)"),
    (
        "import enum\nclass C(enum.Enum): R = 1\ndef f(): return C.R",
        "assert f() is f() and f().value == 1 and f() != 1",
    ),
    ("async def f(n): return n + 1", "import asyncio\nassert asyncio.run(f(1)) == 2"),
    (
        "class MyError(ValueError): pass\ndef f(): raise MyError('no')",
        "try: f()\nexcept ValueError as e: assert str(e) == 'no'",
    ),
    (
        "def f(g):\n    try: g()\n    except Exception as e: return type(e).__name__",
        "assert f(lambda: 1 / 0) == 'ZeroDivisionError'",
    ),
    ("def f(): return type(3)", "assert f() is int"),
    (
        "import functools\n@functools.lru_cache\ndef f(n): return n",
        "assert f(1) == f(1) == 1 and f.cache_info()[0] == 1",
    ),
]


@pytest.mark.parametrize(("program", "test"), CROSSING, ids=[program[:40] for program, _ in CROSSING])
async def test_values_cross_as_in_one_process(program: str, test: str) -> None:
    assert await outcome(program, test) == ("passed", "")


async def test_classes_of_the_program_are_used_through_their_names() -> None:
    program = """
class Stack:
    limit = 2
    def __init__(self, *items): self.items = list(items)
    def push(self, item):
        if len(self.items) >= self.limit: raise Full('full', self.limit)
        self.items.append(item)
        return self
    def __len__(self): return len(self.items)
    def __getitem__(self, at): return self.items[at]
    def __iter__(self): return iter(self.items)
    def __str__(self): return f'<{self.items}>'
    def __enter__(self): return self
    def __exit__(self, *error): self.items.clear()
class Full(Exception): pass
"""
    test = """
stack = Stack(1)
assert isinstance(stack, Stack) and not isinstance([], Stack)
assert stack.push(2) is stack and len(stack) == 2 and list(stack) == [1, 2] and stack[-1] == 2 and stack
assert str(stack) == '<[1, 2]>' and stack.items == [1, 2] and Stack.limit == 2
try:
    stack.push(3)
except Full as full:
    assert full.args == ('full', 2)
else:
    assert False
stack.limit = 3
with stack: stack.push(3)
assert not stack and Stack() != Stack()
"""
    assert await outcome(program, test, entry_points=("Stack", "Full")) == ("passed", "")


async def test_both_sides_have_the_modules_of_the_question() -> None:
    node = "class Node:\n    def __init__(self, value, link=None):\n        self.value, self.link = value, link\n"
    program = (
        "from node import Node\n"
        "def f(head):\n    last = None\n    while head:\n        head.link, last, head = last, head, head.link\n"
        "    return last\n"
    )
    test = (
        "from node import Node\nimport program\nc = Node(3); b = Node(2, c); a = Node(1, b)\n"
        "assert program.f(a) is c and c.link is b and b.link is a and a.link is None\n"
    )
    assert await outcome(program, test, modules={"node": node}, module="program") == ("passed", "")


PYTEST = """
import json, pathlib, pytest
from program import f, Odd
CASES = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())
@pytest.fixture
def one(): return 1
@pytest.mark.parametrize("given,wanted", CASES)
def test_cases(given, wanted):
    if given == 7: pytest.skip("slow")
    assert f(given) == wanted
class TestMore:
    def test_raises(self, one):
        with pytest.raises(Odd, match="no"): f(-one)
"""


async def test_pytest_files_run_as_pytest_runs_them() -> None:
    program = "class Odd(ValueError): pass\ndef f(n):\n    if n < 0: raise Odd('no')\n    return n + 1\n"
    tests = CodeTests(
        (
            PYTEST,
            PYTEST + "    def test_wrong(self): assert f(1) == 3\n",
            "x = 1",
            "import program\nassert program.f(1) == 1",
        ),
        framework="pytest",
        module="program",
        files={"cases.json": "[[1, 2], [7, 0]]"},
    )
    report = await run_tests(BOX, program, tests, limits=replace(LIMITS, seconds=30))
    assert [(found.verdict, found.reason) for found in report.outcomes] == [
        ("passed", ""),
        ("failed", "f(1) == 3: got 2, expected 3"),
        ("failed", "no test of the file ran"),
        ("failed", "program.f(1) == 1: got 2, expected 1"),
    ]


class Alone:
    """A sandbox without processes: one interpreter, as a WebAssembly one has it."""

    name = "alone"
    identity = "alone"
    traits = Traits(processes=False)

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = {},
        stdin: bytes = b"",
        limits: Limits = LIMITS,
        surroundings: Surroundings = Surroundings(),  # noqa: B008
    ) -> ExecResult:
        assert isinstance(work, Program)
        ended = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-c", work.source, stdin=-1, stdout=-1, stderr=-1
        )
        try:
            out, err = await asyncio.wait_for(ended.communicate(stdin), limits.seconds)
        except TimeoutError:
            ended.kill()
            await ended.communicate()
            return ExecResult("timed_out", reason="its time was over")
        return ExecResult("ok" if ended.returncode == 0 else "failed", out.decode(), err.decode())

    async def aclose(self) -> None: ...


async def test_without_processes_both_share_an_interpreter_and_the_report_says_so() -> None:
    box = Alone()
    tests = CodeTests(("assert f(1) == 2", "assert f(1) == 3", "assert f('x')"), ("f",), setup="import math")
    report = await run_tests(box, "def f(n): return n + 1", tests, limits=LIMITS)
    assert not report.separate
    assert [found.verdict for found in report.outcomes] == ["passed", "failed", "error"]
    assert report.outcomes[1].reason == "f(1) == 3: got 2, expected 3"
    assert (await run_tests(box, "raise SystemExit", tests, limits=LIMITS)).passed == 0
    hanging = await run_tests(box, "while True: pass", tests, limits=Limits(seconds=0.5))
    assert [found.verdict for found in hanging.outcomes] == ["timed_out", "not_run", "not_run"]
    assert await canaries(box, LIMITS) is None


async def test_canaries_find_nothing_here_and_a_sandbox_that_lies() -> None:
    assert await canaries(BOX, LIMITS) is None

    class Broken(Alone):
        traits = Traits()

        async def execute(self, *args: Any, **kwargs: Any) -> ExecResult:
            return ExecResult("refused", reason="no room")

    assert await canaries(Broken(), LIMITS) == "a right program was judged 'not_run' instead of 'passed': no room"


async def test_a_sandbox_that_is_no_python_is_refused() -> None:
    class Partial(Alone):
        name = "monty"

    with pytest.raises(SandboxError, match="monty runs a part of Python only"):
        await run_tests(Partial(), "", CodeTests(("pass",)), limits=LIMITS)


async def test_without_tests_nothing_is_run_and_nothing_passed() -> None:
    report = await run_tests(BOX, "while True: pass", CodeTests(()), limits=LIMITS)
    assert (report.outcomes, report.all_passed) == ((), False)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def two_at_a_time(work: Iterable[Awaitable[CodeReport]]) -> list[CodeReport]:
    free = asyncio.Semaphore(2)

    async def one(report: Awaitable[CodeReport]) -> CodeReport:
        async with free:
            return await report

    return list(await asyncio.gather(*map(one, work)))


@pytest.mark.shared
async def test_every_solution_of_humaneval_passes(shared_data: Path) -> None:
    reports = await two_at_a_time(
        run_tests(
            BOX,
            row["prompt"] + row["canonical_solution"],
            CodeTests((row["test"],), (row["entry_point"],), row["prompt"], "check"),
            limits=LIMITS,
        )
        for row in rows(shared_data / "humaneval" / "humaneval.jsonl")
    )
    assert [report.first_fault for report in reports if not report.all_passed] == []
    assert len(reports) == 100


@pytest.mark.shared
async def test_every_solution_of_mbpp_passes(shared_data: Path) -> None:
    def tests_of(row: dict[str, Any]) -> CodeTests:
        names = re.findall(r"^(?:def|class) (\w+)", row["code"], re.MULTILINE)
        return CodeTests(tuple(row["test_list"]), tuple(names), "\n".join(row["test_imports"]))

    reports = await two_at_a_time(
        run_tests(BOX, row["code"], tests_of(row), limits=LIMITS) for row in rows(shared_data / "mbpp" / "mbpp.jsonl")
    )
    assert [report.first_fault for report in reports if not report.all_passed] == []
    assert len(reports) == 200


NODE = """
class Node:
    def __init__(self, value=None, successor=None, successors=[]):
        self.value, self.successor, self.successors = value, successor, successors
"""


@pytest.mark.shared
async def test_quixbugs_tell_right_programs_from_wrong_ones(shared_data: Path) -> None:
    def grade(row: dict[str, Any], program: str) -> Awaitable[CodeReport]:
        tests = CodeTests(
            (row["test"],),
            (row["name"],),
            framework="pytest",
            module=row["name"],
            modules={"node": NODE} if row["uses_node"] else {},
            files={"cases.json": json.dumps(row["cases"])},
        )
        return run_tests(BOX, program, tests, limits=Limits(seconds=15 if program == row["correct"] else 3))

    programs = rows(shared_data / "quixbugs" / "quixbugs.jsonl")
    right = await two_at_a_time(grade(row, row["correct"]) for row in programs)
    wrong = await two_at_a_time(grade(row, row["buggy"]) for row in programs)
    assert [report.first_fault for report in right if not report.all_passed] == []
    assert [row["name"] for row, report in zip(programs, wrong, strict=True) if report.all_passed] == []
