"""How long isolated programs take to start, and how many are graded a second.

    python benchmarks/sandbox.py [--kind auto] [--task humaneval:FILE --task mbpp:FILE]

Start: a program that does nothing, in a warm cell and in a box of its own, beside `python -c pass` without isolation.
Grading: every reference of the tasks (or of a made one) against all its tests, two at once; beside it the same programs
and tests run without isolation, in one new interpreter each (a pool of them that keeps one process a program), which
is what harnesses of the field do. Ratios are within one run; figures alone mean little on a busy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from treadle.sandbox.base import Command, Limits, Program, Sandbox
from treadle.sandbox.choose import open_sandbox
from treadle.sandbox.code_tests import CodeTests, run_tests
from treadle.tasks.open import open_task
from treadle.tasks.scorers.programs import hidden_tests

LIMITS = Limits(seconds=10)
AT_ONCE = 2
Graded = tuple[str, CodeTests]


def made() -> list[Graded]:
    """A hundred programs with five assertions each."""
    return [
        (
            f"def scaled(xs):\n    return sorted({n} * x for x in xs if x % {n % 7 + 2})\n",
            CodeTests(
                tuple(
                    f"assert scaled({list(range(k))}) == {sorted(n * x for x in range(k) if x % (n % 7 + 2))}"
                    for k in range(5)
                ),
                ("scaled",),
            ),
        )
        for n in range(100)
    ]


def read(specs: Sequence[str]) -> list[Graded]:
    """The references of tasks with their tests."""
    found: list[Graded] = []
    for spec in specs:
        for sample in open_task(spec, folder=Path.cwd()).samples:
            tests = hidden_tests(sample)
            if tests is not None and isinstance(sample.target, str):
                found.append((sample.target, tests))
    return found


async def each(count: int, start: Callable[[], Awaitable[object]]) -> float:
    """Median milliseconds of one after another."""
    taken: list[float] = []
    for _ in range(count):
        began = time.perf_counter()
        await start()
        taken.append(1000 * (time.perf_counter() - began))
    return statistics.median(taken)


async def together(work: Sequence[Callable[[], Awaitable[object]]]) -> float:
    """How many a second, `AT_ONCE` at a time."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(start: Callable[[], Awaitable[object]]) -> None:
        async with turn:
            await start()

    began = time.perf_counter()
    await asyncio.gather(*map(one, work))
    return len(work) / (time.perf_counter() - began)


async def interpreter(source: str = "pass") -> None:
    """A program in an interpreter of its own, without isolation."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, stderr = await process.communicate(source.encode())
    if process.returncode:
        raise SystemExit(f"a reference fails without isolation: {stderr.decode()[-500:]}")


def as_one(program: str, tests: CodeTests) -> str:
    """A program and its tests in one text, as harnesses of the field run them."""
    check = f"\n{tests.check}({tests.entry_points[0]})\n" if tests.check else ""
    return "\n".join((tests.setup, program, *tests.tests)) + check


async def grade(sandbox: Sandbox, program: str, tests: CodeTests) -> None:
    report = await run_tests(sandbox, program, tests, limits=LIMITS, stop_at_first=True)
    if not report.all_passed:
        raise SystemExit(f"a reference is graded wrong: {report.first_fault} {report.execution.reason}")


async def main() -> None:
    parser = argparse.ArgumentParser(description="How fast programs are run apart from this machine.")
    parser.add_argument("--kind", default="auto")
    parser.add_argument("--task", action="append", default=[])
    asked = parser.parse_args()
    graded = read(asked.task) or made()
    sandbox = await open_sandbox(asked.kind)
    print(f"{sandbox.identity}; {len(graded)} programs, {AT_ONCE} at once")

    async def warm() -> None:
        assert (await sandbox.execute(Program("pass"), limits=LIMITS)).status == "ok"

    async def box() -> None:
        assert (await sandbox.execute(Command(("true",)), limits=LIMITS)).status == "ok"

    await warm()
    print(f"start, warm cell          {await each(200, warm):7.1f} ms median (at most 25)")
    if sandbox.traits.commands:
        print(f"start, box of its own     {await each(30, box):7.1f} ms median")
    print(f"start, python -c pass     {await each(50, interpreter):7.1f} ms median, no isolation")

    plain = await together([interpreter] * 200)
    naive = await together(
        [lambda program=program, tests=tests: interpreter(as_one(program, tests)) for program, tests in graded]
    )
    rate = await together(
        [lambda program=program, tests=tests: grade(sandbox, program, tests) for program, tests in graded]
    )
    print(f"python -c pass            {plain:7.0f} a second, no isolation")
    print(f"programs with tests       {naive:7.0f} a second, no isolation, one interpreter each")
    print(f"graded                    {rate:7.0f} a second, isolated (at least 80)")
    print(f"ratio to no isolation     {rate / naive:7.2f}    to starting python {rate / plain:.2f}")
    await sandbox.aclose()


if __name__ == "__main__":
    asyncio.run(main())
