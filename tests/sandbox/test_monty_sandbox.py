"""Small programs in Monty: each ends as a typed result, and the next one finds nothing of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest

from treadle.errors import SandboxError
from treadle.sandbox.base import MIB, Command, ExecResult, Limits, Program, Sandbox, Status, Surroundings
from treadle.sandbox.monty.pool import MontyPool
from treadle.sandbox.monty.sandbox import MontySandbox

SMALL = Limits(seconds=0.3, memory=64 * MIB)


@pytest.fixture
async def sandbox() -> AsyncGenerator[Sandbox]:
    sandbox = MontySandbox()
    yield sandbox
    await sandbox.aclose()


async def ran(sandbox: Sandbox, source: str, limits: Limits = SMALL) -> ExecResult:
    return await sandbox.execute(Program(source), limits=limits)


async def test_a_program_prints_and_ends(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "import sys\nprint('ünter', 1 + 1)\nprint('odd', file=sys.stderr)\n40 + 2")
    assert result == ExecResult("ok", "ünter 2\n", "odd\n", exit_code=0, seconds=result.seconds)
    assert 0 < result.seconds < 1


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        ("raise SystemExit", "ok", ""),
        ("raise SystemExit('no')", "failed", "SystemExit: no"),
        ("1 / 0", "failed", "ZeroDivisionError"),
        ("def f(:", "failed", "SyntaxError"),
        ("print('seen')\nreturn\n1 / 0", "failed", "'return' outside function"),
        ("print(1)\x00", "failed", "SyntaxError"),
        ("print('\ud800')", "failed", "surrogates"),
        ("x = " + "[" * 10_000, "failed", "nested"),
        ("", "ok", ""),
    ],
)
async def test_how_a_program_ends(sandbox: Sandbox, source: str, status: Status, words: str) -> None:
    result = await ran(sandbox, source)
    assert (result.status, result.exit_code) == (status, 0 if status == "ok" else 1)
    assert words in result.stderr
    assert result.reason == ""


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        ("def f():\n    yield 1\nprint(list(f()))", "build a list"),
        ("import numpy", "write what you need"),
        ("class E(Exception):\n    pass", "classes without a base"),
        ("class A:\n    @property\n    def x(self): return 1", "plain methods"),
        ("x = 1\ndel x", "leave the name alone"),
        ("print(input())", "cannot be read"),
        ("import sys\nprint(sys.stdin.read())", "cannot be read"),
        ("import sys\nsys.exit(1)", "SystemExit"),
        ("raise SystemExit(3)", "one text"),
        ("import asyncio\nasyncio.create_task(1)", "asyncio.gather"),
    ],
)
async def test_what_monty_does_not_have_fails_with_the_remedy(sandbox: Sandbox, source: str, remedy: str) -> None:
    result = await ran(sandbox, source)
    assert result.status == "failed"
    assert remedy in result.reason
    assert "--sandbox" in result.reason
    assert result.stdout == ""


ATTACKS: tuple[tuple[str, str, Status], ...] = (
    ("read a file", "print(open('/etc/passwd').read())", "failed"),
    ("read by path", "from pathlib import Path\nprint(Path('/etc/passwd').read_text())", "failed"),
    ("write a file", "open('{canary}', 'w').write('x')", "failed"),
    ("write by path", "from pathlib import Path\nPath('{canary}').write_text('x')", "failed"),
    ("list a folder", "import os\nprint(os.listdir('/'))", "failed"),
    ("environment", "import os\nprint(os.environ)", "failed"),
    ("one variable", "import os\nprint(os.getenv('CANARY'))", "failed"),
    ("shell", "import os\nos.system('touch {canary}')", "failed"),
    ("socket", "import socket\nsocket.create_connection(('127.0.0.1', 9))", "failed"),
    ("address", "from urllib.request import urlopen\nurlopen('http://127.0.0.1')", "failed"),
    ("ctypes", "import ctypes\nctypes.string_at(0)", "failed"),
    ("processes", "import subprocess\nsubprocess.run(['touch', '{canary}'])", "failed"),
    ("fork", "import os\nos.fork()", "failed"),
    ("signal", "import os\nos.kill(os.getppid(), 9)", "failed"),
    ("import by name", "__import__('os').system('touch {canary}')", "failed"),
    ("builtins", "print(__builtins__)", "failed"),
    ("eval", "eval('__import__(\"os\")')", "failed"),
    ("subclasses", "print(().__class__.__base__.__subclasses__())", "failed"),
    ("getattr", "print(getattr(getattr((), '__class__'), '__mro__'))", "failed"),
    ("globals", "def f(): pass\nprint(f.__globals__)", "failed"),
    ("format", "print('{{0.__class__}}'.format(1))", "failed"),
    ("memory", "x = [0] * 10**10", "out_of_memory"),
    ("memory, caught", "try:\n    x = [0] * 10**10\nexcept BaseException:\n    pass", "out_of_memory"),
    ("memory, growing", "x = []\nwhile True: x.append('a' * 1000 + str(len(x)))", "out_of_memory"),
    ("memory of text", "x = 'a'\nwhile True: x += x", "out_of_memory"),
    ("huge number", "x = 10**10**8", "out_of_memory"),
    ("huge shift", "x = 1 << (3 * 10**10)", "out_of_memory"),
    ("huge format", "x = f'{{1:>3000000000}}'", "out_of_memory"),
    ("slow number", "x = 10**10**7\nwhile True: x = x * x", "timed_out"),
    ("endless loop", "while True: pass", "timed_out"),
    ("endless, caught", "while True:\n    try:\n        while True: pass\n    except BaseException: pass", "timed_out"),
    ("endless sum", "sum(range(10**12))", "timed_out"),
    ("sleep", "import time\ntime.sleep(3600)", "timed_out"),
    ("sleeps", "import asyncio\nwhile True: await asyncio.sleep(0)", "timed_out"),
    ("sleep, then work", "import time\ntime.sleep(0.2)\nwhile True: pass", "timed_out"),
    ("recursion", "def f(n): return f(n + 1)\nf(0)", "failed"),
    ("recursion of builtins", "def k(x): return sorted([1, 2], key=k)[0]\nk(1)", "failed"),
    ("deep value", "x = []\nfor _ in range(100000): x = [x]\nprint(x == [x])", "failed"),
    ("regex", "import re\nre.match(r'(?=(a+))(a+)+\\\\1$', 'a' * 40 + 'b')", "failed"),
)


@pytest.mark.parametrize(("goal", "source", "status"), ATTACKS, ids=[goal for goal, _, _ in ATTACKS])
async def test_attacks_get_nothing(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: str, source: str, status: Status
) -> None:
    canary = tmp_path / "canary"
    monkeypatch.setenv("CANARY", "a secret")
    result = await ran(sandbox, source.format(canary=canary))
    assert result.status == status, f"{goal}: {result}"
    assert result.seconds < SMALL.seconds + 1
    assert result.stdout == ""
    assert "root:" not in result.stderr
    assert "secret" not in result.stderr
    assert not canary.exists()
    assert (await ran(sandbox, "print('fine')")).stdout == "fine\n"


async def test_output_is_kept_from_both_ends(sandbox: Sandbox) -> None:
    source = "n = 0\nwhile True:\n    print('line', n)\n    n += 1\n"
    result = await ran(sandbox, source, Limits(seconds=0.3, memory=64 * MIB, output_bytes=1000))
    assert result.status == "timed_out"
    assert result.truncated
    assert result.stdout.startswith("line 0\nline 1\n")
    assert len(result.stdout) < 1100
    whole = await ran(sandbox, "print('x' * 50 * 2**20)", Limits(seconds=5, output_bytes=1000))
    assert (whole.status, whole.truncated) == ("ok", True)
    assert whole.stdout.endswith("x\n")


async def test_the_next_program_finds_nothing_of_the_last(sandbox: Sandbox) -> None:
    await ran(sandbox, "secret = 42\nimport math\nmath.pi = 3")
    assert "NameError" in (await ran(sandbox, "print(secret)")).stderr
    assert (await ran(sandbox, "import math\nprint(math.pi > 3)")).stdout == "True\n"


async def test_many_programs_at_once(sandbox: Sandbox) -> None:
    results = await asyncio.gather(*(ran(sandbox, f"print({n})", Limits(memory=32 * MIB)) for n in range(40)))
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(40)]


@pytest.mark.parametrize(
    ("work", "given", "words"),
    [
        (Command(("ls",)), {}, "no commands"),
        (Program("1"), {"files": {"a.txt": b"a"}}, "no files"),
        (Program("1"), {"stdin": b"text"}, "cannot read their input"),
        (Program("1"), {"surroundings": Surroundings(folder=Path("/tmp"))}, "no folder"),
        (Program("1"), {"surroundings": Surroundings(readable=(Path("/tmp"),))}, "no folder"),
        (Program("1"), {"surroundings": Surroundings(env={"A": "b"})}, "no environment"),
        (Program("1"), {"surroundings": Surroundings(network=True)}, "no network"),
    ],
)
async def test_what_it_cannot_do_is_refused(
    sandbox: Sandbox, work: Program | Command, given: dict[str, object], words: str
) -> None:
    result = await sandbox.execute(work, **given)  # pyright: ignore[reportArgumentType]
    assert result.status == "refused"
    assert words in result.reason


def workers() -> set[int]:
    """The workers of Monty that live below this process."""
    found: set[int] = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                name, fields = (folder / "stat").read_text().rsplit(")", 1)
            except OSError:
                continue
            if name.endswith("(monty") and int(fields.split()[1]) == os.getpid():
                found.add(int(folder.name))
    return found


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@linux
async def test_nothing_is_alive_when_it_is_closed() -> None:
    before = workers()
    sandbox = MontySandbox()
    await asyncio.gather(*(ran(sandbox, "print(1)") for _ in range(4)))
    endless = asyncio.create_task(ran(sandbox, "while True: pass", Limits(seconds=60)))
    asleep = asyncio.create_task(ran(sandbox, "import time\ntime.sleep(50)", Limits(seconds=60)))
    await asyncio.sleep(0.2)
    assert workers() - before
    await sandbox.aclose()
    await sandbox.aclose()
    assert workers() == before
    assert (await endless).status == "crashed"
    asleep.cancel()
    assert (await ran(sandbox, "print(1)")).status == "refused"


@linux
async def test_a_worker_that_dies_or_hangs_is_replaced() -> None:
    before = workers()
    sandbox = MontySandbox()
    assert (await ran(sandbox, "print(1)")).status == "ok"
    (worker,) = workers() - before
    os.kill(worker, signal.SIGSTOP)
    assert (await ran(sandbox, "print(1)")).stdout == "1\n"

    (worker,) = workers() - before
    hung = asyncio.create_task(ran(sandbox, "while True: pass", Limits(seconds=1)))
    await asyncio.sleep(0.2)
    os.kill(worker, signal.SIGSTOP)
    assert (await hung).status == "timed_out"
    assert (await hung).seconds < 2

    assert (await ran(sandbox, "print(1)")).stdout == "1\n"
    (worker,) = workers() - before
    endless = asyncio.create_task(ran(sandbox, "while True: pass", Limits(seconds=60)))
    await asyncio.sleep(0.2)
    os.kill(worker, signal.SIGKILL)
    dead = await endless
    assert (dead.status, dead.signal) == ("crashed", signal.SIGKILL)

    assert (await ran(sandbox, "print(1)")).stdout == "1\n"
    (worker,) = workers() - before
    os.kill(worker, signal.SIGKILL)
    await asyncio.sleep(0.05)
    assert (await ran(sandbox, "print(2)")).stdout == "2\n"
    await sandbox.aclose()
    assert workers() == before


@linux
async def test_a_cancelled_program_is_ended() -> None:
    before = workers()
    sandbox = MontySandbox()
    endless = asyncio.create_task(ran(sandbox, "while True: pass", Limits(seconds=60)))
    await asyncio.sleep(0.2)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    assert workers() == before
    await sandbox.aclose()


@linux
async def test_memory_bounds_how_many_are_at_work() -> None:
    before = workers()
    pool = MontyPool(memory=300 * MIB)
    sandbox = MontySandbox(pool)
    limits = Limits(seconds=5, memory=120 * MIB)
    results = await asyncio.gather(*(ran(sandbox, "import time\ntime.sleep(0.05)", limits) for _ in range(6)))
    assert [result.status for result in results] == ["ok"] * 6
    assert len(workers() - before) == 2
    too_much = await ran(sandbox, "print(1)", Limits(memory=4096 * MIB))
    assert too_much.status == "ok"
    await sandbox.aclose()
    assert (await ran(sandbox, "print(1)")).status == "ok"
    await pool.aclose()
    assert workers() == before


def test_without_monty_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    with pytest.raises(SandboxError, match=r"pip install 'treadle\[sandbox\]'"):
        MontySandbox()


@pytest.mark.shared
async def test_solutions_of_humaneval_pass(sandbox: Sandbox, shared_data: Path) -> None:
    lines = (shared_data / "humaneval" / "humaneval.jsonl").read_bytes().splitlines()
    rows = [msgspec.json.decode(line, type=dict[str, str]) for line in lines]
    programs = [
        f"{row['prompt']}{row['canonical_solution']}\n{row['test']}\ncheck({row['entry_point']})\n" for row in rows
    ]
    limits = Limits(seconds=10, memory=256 * MIB)
    results = await asyncio.gather(*(ran(sandbox, program, limits) for program in programs))
    failed = {row["id"]: result.reason for row, result in zip(rows, results, strict=True) if result.status != "ok"}
    assert len(rows) - len(failed) >= 0.97 * len(rows), failed
    assert all(failed.values()), "what does not pass is what Monty does not have"
