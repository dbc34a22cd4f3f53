"""Workflow code in Monty: it calls functions of the host, and nothing that it does reaches further."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from treadle.errors import ConnectionFailedError, RunLimitError, TreadleError
from treadle.sandbox.base import MIB, Limits
from treadle.sandbox.monty.check import check_code
from treadle.sandbox.monty.code import CodeOutcome, HostFunction, run_code
from treadle.sandbox.monty.pool import MontyPool
from treadle.sandbox.monty.values import NotPlainError
from treadle.testing.virtual_time import run_virtual

ASK = "async def ask(prompt: str, *, draw: int = 0) -> str: ..."
TWO_AT_ONCE = """
import asyncio

async def solve(problem: str) -> list[str]:
    first, second = await asyncio.gather(ask(problem), ask(problem, draw=1))
    return [first, second]
"""
CATCHES_ALL = """
async def solve(problem: str) -> str:
    try:
        return await ask(problem)
    except Exception:
        return "caught"
    except BaseException:
        return "caught, too"
"""


@pytest.fixture
async def pool() -> AsyncGenerator[MontyPool]:
    pool = MontyPool()
    yield pool
    await pool.aclose()


def asking(call: Callable[..., Awaitable[object]]) -> HostFunction:
    return HostFunction("ask", call, ASK)


async def echo(prompt: str, draw: int = 0) -> str:
    return f"{prompt} {draw}"


async def solved(
    pool: MontyPool,
    source: str,
    call: Callable[..., Awaitable[object]] = echo,
    *,
    problem: object = "a question",
    stubs: str = "",
    limits: Limits = Limits(seconds=2, memory=64 * MIB),  # noqa: B008
) -> CodeOutcome:
    return await run_code(
        pool,
        source,
        entry="solve",
        inputs={"problem": problem},
        functions=[asking(call)],
        stubs=stubs,
        limits=limits,
    )


async def test_code_asks_the_host_and_gives_a_value(pool: MontyPool) -> None:
    source = "async def solve(problem):\n    print('on it')\n    return {'answer': await ask(problem, draw=2)}\n"
    outcome = await solved(pool, source)
    assert outcome.fault is None
    assert outcome.value == {"answer": "a question 2"}
    assert outcome.printed == "on it\n"


async def test_calls_that_the_code_gathers_run_together(pool: MontyPool) -> None:
    both = asyncio.Barrier(2)

    async def ask(prompt: str, draw: int = 0) -> str:
        await asyncio.wait_for(both.wait(), 5)  # passes only when the other one is here as well
        return f"{prompt} {draw}"

    outcome = await solved(pool, TWO_AT_ONCE, ask)
    assert outcome.value == ["a question 0", "a question 1"]


def test_waiting_for_the_host_is_not_the_codes_time() -> None:
    async def hours() -> tuple[CodeOutcome, float]:
        async def ask(prompt: str, draw: int = 0) -> str:
            await asyncio.sleep(3600)
            return prompt

        pool = MontyPool()
        outcome = await solved(pool, TWO_AT_ONCE, ask)
        now = asyncio.get_running_loop().time()
        await pool.aclose()
        return outcome, now

    outcome, now = run_virtual(hours())
    assert outcome.value == ["a question", "a question"]
    assert outcome.seconds < 2
    assert 3600 <= now < 7200


def test_sleeping_is_the_codes_time() -> None:
    async def asleep() -> tuple[CodeOutcome, float]:
        pool = MontyPool()
        source = "import asyncio\nasync def solve(problem):\n    while True:\n        await asyncio.sleep(1)\n"
        outcome = await solved(pool, source, limits=Limits(seconds=60, memory=64 * MIB))
        now = asyncio.get_running_loop().time()
        await pool.aclose()
        return outcome, now

    outcome, now = run_virtual(asleep())
    assert outcome.fault is not None
    assert outcome.fault.kind == "timed_out"
    assert 58 < now < 61


@pytest.mark.parametrize(
    "error",
    [
        ConnectionFailedError("the connection broke"),
        RunLimitError("usd", "the budget is spent"),
        asyncio.CancelledError("enough"),
    ],
)
async def test_a_failure_of_the_host_ends_the_code_as_the_same_object(pool: MontyPool, error: BaseException) -> None:
    async def ask(prompt: str, draw: int = 0) -> str:
        raise error

    with pytest.raises((TreadleError, asyncio.CancelledError)) as raised:
        await solved(pool, CATCHES_ALL, ask)
    assert raised.value is error
    assert (await solved(pool, CATCHES_ALL)).value == "a question 0"


async def test_a_failure_cancels_the_calls_beside_it(pool: MontyPool) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def ask(prompt: str, draw: int = 0) -> str:
        if draw == 1:
            await begun.wait()
            raise RunLimitError("calls", "no call is left")
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return prompt

    with pytest.raises(RunLimitError):
        await solved(pool, TWO_AT_ONCE, ask)
    assert cancelled.is_set()


async def test_a_failure_that_the_code_did_not_wait_for_is_not_lost(pool: MontyPool) -> None:
    async def ask(prompt: str, draw: int = 0) -> str:
        if draw == 0:
            raise RunLimitError("calls", "no call is left")
        await asyncio.sleep(0)
        return prompt

    source = "async def solve(problem):\n    left = ask('left')\n    return await ask(problem, draw=1)\n"
    with pytest.raises(RunLimitError):
        await solved(pool, source, ask)


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (ValueError("no such draw"), "ValueError no such draw"),
        (KeyError("draw"), "KeyError draw"),
        (ArithmeticError("odd"), "RuntimeError ArithmeticError: odd"),
    ],
)
async def test_other_errors_of_the_host_are_raised_in_the_code(pool: MontyPool, error: Exception, seen: str) -> None:
    async def ask(prompt: str, draw: int = 0) -> str:
        raise error

    source = (
        "async def solve(problem):\n    try:\n        return await ask(problem)\n"
        "    except Exception as error:\n        return type(error).__name__ + ' ' + error.args[0]\n"
    )
    assert (await solved(pool, source, ask)).value == seen


async def test_a_cancelled_run_ends_worker_and_calls(pool: MontyPool) -> None:
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def ask(prompt: str, draw: int = 0) -> str:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return prompt

    waiting = asyncio.create_task(solved(pool, CATCHES_ALL, ask))
    await asked.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert cancelled.is_set()

    endless = asyncio.create_task(
        solved(pool, "async def solve(problem):\n    while True: pass\n", limits=Limits(seconds=60, memory=64 * MIB))
    )
    await asyncio.sleep(0.2)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(endless, 5)
    assert (await solved(pool, CATCHES_ALL)).value == "a question 0"


@pytest.mark.parametrize(
    ("source", "kind", "line", "words"),
    [
        ("async def solve(problem):\n    return await ask(promt=problem)\n", "type", 2, "`promt`"),
        ("async def solve(problem: str):\n    return await ask(problem) + 1\n", "type", 2, "`+`"),
        ("async def solve(problem: str):\n    return ask(problem).strip()\n", "type", 2, "`strip`"),
        ("async def solve(problem: str):\n    return await ask(1)  # type: ignore\n", "type", 2, "`str`"),
        ("async def solve(problem: str, other: int):\n    return ''\n", "type", None, "`other`"),
        ("async def solve(problem: int):\n    return ''\n", "type", None, "`int`"),
        ("async def other(problem):\n    return ''\n", "type", None, "`solve`"),
        ("async def solve(problem:\n    return ''\n", "syntax", 1, ""),
        ("x = 1\nreturn x\nasync def solve(problem):\n    return ''\n", "syntax", 2, "return"),
        ("import heapq\nasync def solve(problem):\n    return ''\n", "unsupported", 1, "heapq"),
        ("import os\nos.system('id')\nasync def solve(problem):\n    return ''\n", "unsupported", 2, "system"),
        ("async def solve(problem):\n    def g():\n        yield 1\n    return ''\n", "unsupported", 3, "build a list"),
        ("async def solve(problem):\n    return input()\n", "unsupported", 2, "input"),
        ("class E(Exception):\n    pass\nasync def solve(problem):\n    raise E\n", "unsupported", 1, "without a base"),
        ("async def solve(problem):\n    x = " + "(" * 5000 + ")" * 5000 + "\n", "syntax", 2, "nested"),
    ],
)
async def test_what_is_wrong_is_known_before_anything_runs(
    pool: MontyPool, source: str, kind: str, line: int | None, words: str
) -> None:
    asked: list[str] = []

    async def ask(prompt: str, draw: int = 0) -> str:
        asked.append(prompt)
        return prompt

    outcome = await solved(pool, source, ask)
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.line) == (kind, line), outcome.fault
    assert words in outcome.fault.message
    assert asked == []
    assert outcome.seconds == 0


async def test_stubs_of_types_are_checked_too(pool: MontyPool) -> None:
    stubs = "from typing import TypedDict\nclass Problem(TypedDict):\n    text: str\n"
    right = "async def solve(problem: Problem) -> str:\n    return await ask(problem['text'])\n"
    wrong = right.replace("'text'", "'txt'")
    assert await check_code(pool, right, f"{stubs}{ASK}") == ()
    (fault,) = await check_code(pool, wrong, f"{stubs}{ASK}")
    assert (fault.kind, fault.line) == ("type", 2)
    assert "txt" in fault.message


async def test_checking_runs_nothing(pool: MontyPool) -> None:
    endless = "while True:\n    pass\n"
    assert await check_code(pool, endless, "") == ()
    assert await check_code(pool, f"import heapq\n{endless}x: int = ''\n", "") != ()
    assert await check_code(pool, "from __future__ import annotations\nx: int = 1\n", "") == ()


async def test_what_goes_wrong_while_it_runs_has_its_line(pool: MontyPool) -> None:
    source = "def half(n):\n    return 1 // n\n\nasync def solve(problem):\n    return half(0)\n"
    outcome = await solved(pool, source)
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.line) == ("raised", 2)
    assert outcome.fault.message.startswith("ZeroDivisionError")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("while True: pass", "timed_out"),
        ("return [0] * 10**10", "out_of_memory"),
        ("return len(str(10**10**8))", "out_of_memory"),
        ("def down(n): return down(n + 1)\n    return down(0)", "raised"),
        ("return {1, 2}", "type"),
        ("return {1: 2}", "type"),
        ("return float('nan')", "type"),
        ("return await ask({1, 2}.pop() and {3})", "type"),
        ("return open('/etc/passwd').read()", "unsupported"),
    ],
)
async def test_code_that_takes_too_much_or_gives_what_is_not_plain(pool: MontyPool, body: str, kind: str) -> None:
    source = f"async def solve(problem):\n    {body}\n"
    outcome = await solved(pool, source, limits=Limits(seconds=0.3, memory=64 * MIB))
    assert outcome.fault is not None
    assert outcome.fault.kind == kind, outcome.fault
    assert (await solved(pool, CATCHES_ALL)).value == "a question 0"


async def test_only_plain_values_reach_the_host(pool: MontyPool) -> None:
    seen: list[object] = []

    async def ask(prompt: object, draw: int = 0) -> object:
        seen.append(prompt)
        return object() if draw else ["fine", None]

    loose = "from typing import Any\nasync def solve(problem: Any) -> Any:\n    values: Any = "
    source = f"{loose}[{{1}}, b'x', {{2: 3}}]\n    refused = []\n" + (
        "    for value in values:\n        try:\n            await ask(value)\n"
        "        except TypeError as error:\n            refused.append(str(error)[:26])\n    return refused\n"
    )
    outcome = await solved(pool, source, ask)
    assert seen == []
    assert outcome.value == ["ask(): the argument prompt"] * 3
    outcome = await solved(pool, f"{loose}(1, 'x')\n    return await ask(values)\n", ask)
    assert seen == [[1, "x"]]
    assert outcome.value == ["fine", None]
    outcome = await solved(pool, f"{loose}'x'\n    return await ask(values, draw=1)\n", ask)
    assert outcome.fault is not None
    assert "ask(): what it gives" in outcome.fault.message
    with pytest.raises(NotPlainError):
        await solved(pool, CATCHES_ALL, problem={"text": object()})


async def test_a_function_can_be_handed_on_and_called_wrongly(pool: MontyPool) -> None:
    source = (
        "from typing import Any\nasync def solve(problem: str) -> Any:\n    call: Any = ask\n"
        "    good = await call(problem, draw=3)\n    try:\n        await call(problem, 4, colour='red')\n"
        "    except TypeError as error:\n        return [good, str(error)]\n"
    )
    outcome = await solved(pool, source)
    assert outcome.fault is None
    assert outcome.value == ["a question 3", "ask(): too many positional arguments"]


@pytest.mark.parametrize(
    "stub",
    [
        "def ask(prompt: str) -> str: ...",
        "async def other() -> str: ...",
        "async def ask(*all: str) -> str: ...",
        "ask(",
    ],
)
def test_a_stub_that_does_not_declare_its_function_is_refused(stub: str) -> None:
    with pytest.raises(ValueError, match="ask"):
        HostFunction("ask", echo, stub)


async def test_code_inside_a_call_of_code_does_not_wait_for_the_room_that_its_caller_holds() -> None:
    pool = MontyPool(memory=100 * MIB)

    async def ask(prompt: str, draw: int = 0) -> object:
        return (await solved(pool, CATCHES_ALL)).value

    try:
        outcome = await asyncio.wait_for(solved(pool, CATCHES_ALL, ask), 10)
        assert outcome.value == "a question 0"
    finally:
        await pool.aclose()
