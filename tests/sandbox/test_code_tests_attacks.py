"""Programs that try to pass without being right: none does, and each would pass a harness that trusts them."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from treadle.sandbox.base import Limits
from treadle.sandbox.code_tests import CodeTests, TestOutcome, run_tests
from treadle.sandbox.unprotected import Unprotected

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what a process can do to another is Linux's")

BOX = Unprotected()
LIMITS = Limits(seconds=10)
EQUALS = "assert f(20) == 424242"
LINES = "got = f(20)\nassert got == 424242\nover = True\n"

NAIVE = """
import sys
TESTS = {test!r}
PROGRAM = {program!r}
space = {{"__name__": "solution"}}
try:
    exec(PROGRAM, space)
    exec(TESTS, space)
    print("verdict: passed")
except Exception:
    print("verdict: failed")
    raise
"""
"""What many graders do: program and tests in one process, told by its exit code or by what it prints last."""


@dataclass(frozen=True)
class Trick:
    """A program that cheats, the test it cheats on, and how a naive harness is told that it passed."""

    name: str
    program: str
    test: str = EQUALS
    told: Literal["exit code", "output"] = "exit code"


class_of = (
    "class {base}Sly({base}):\n    __eq__ = lambda *a: True\n    __ne__ = lambda *a: False\n    __hash__ = None\n"
)


def sly(base: str, value: str) -> str:
    return class_of.format(base=base) + f"def f(n): return {base}Sly({value})\n"


TRICKS = (
    Trick("SystemExit while loading", "import sys\nsys.exit(0)\n"),
    Trick("SystemExit in a call", "def f(n): raise SystemExit(0)\n"),
    Trick("os._exit in a call", "import os\ndef f(n): os._exit(0)\n"),
    Trick("an exit function", "import atexit, os\natexit.register(os._exit, 0)\ndef f(n): return 1\n"),
    Trick("a hook for exceptions", "import os, sys\nsys.excepthook = lambda *a: os._exit(0)\ndef f(n): return 1\n"),
    Trick(
        "a thread that ends all",
        "import os, threading, time\nthreading.Timer(0.2, os._exit, [0]).start()\ndef f(n): time.sleep(5)\n",
    ),
    Trick(
        "an alarm that ends all",
        "import os, signal, time\nsignal.signal(signal.SIGALRM, lambda *a: os._exit(0))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.2)\ndef f(n): time.sleep(5)\n",
    ),
    Trick(
        "a fork whose parent leaves",
        "import os, time\ndef f(n):\n    if os.fork(): os._exit(0)\n    time.sleep(0.5)\n    os._exit(1)\n",
    ),
    Trick(
        "the harness's words",
        "import os\ndef f(n):\n    os.write(1, b'verdict: passed\\n')\n    os._exit(1)\n",
        told="output",
    ),
    Trick(
        "a stdout that lies",
        "import sys\nreal = sys.stdout\nclass Lying:\n    flush = real.flush\n"
        "    def write(self, text): return real.write(text.replace('failed', 'passed'))\n"
        "sys.stdout = Lying()\ndef f(n): return 1\n",
        told="output",
    ),
    Trick("equal to everything", "class Any:\n    __eq__ = lambda *a: True\ndef f(n): return Any()\n"),
    Trick("an int equal to everything", sly("int", "1")),
    Trick("a text equal to everything", sly("str", "'x'"), "assert f(20) == 'right'"),
    Trick("a list equal to everything", sly("list", "[1]"), "assert f(20) == [4, 2]"),
    Trick("a tuple equal to everything", sly("tuple", "[1]"), "assert f(20) == (4, 2)"),
    Trick(
        "a float near everything",
        "class N:\n    __sub__ = lambda *a: 0.0\ndef f(n): return N()\n",
        "assert abs(f(1) - 4.2) < 1",
    ),
    Trick(
        "less than everything",
        "class N:\n    __abs__ = lambda s: s\n    __lt__ = lambda *a: True\ndef f(n): return N()\n",
        "assert abs(f(1)) < 1e-6",
    ),
    Trick(
        "has everything",
        "class N:\n    __contains__ = lambda *a: True\ndef f(n): return N()\n",
        "assert 424242 in f(20)",
    ),
    Trick(
        "builtins patched",
        "import builtins\nbuiltins.sorted = lambda *a: 0\ndef f(n): return []\n",
        "assert sorted(f(3)) == sorted([4, 2])",
    ),
    Trick(
        "math patched",
        "import math\nmath.isclose = lambda *a: True\ndef f(n): return 0\n",
        "import math\nassert math.isclose(f(1), 4.2)",
    ),
    Trick(
        "json patched",
        "import json\njson.loads = lambda t: {'right': 42}\ndef f(n): return ''\n",
        "import json\nassert json.loads(f(1)) == {'right': 42}",
    ),
    Trick(
        "isinstance patched",
        "import builtins\nbuiltins.isinstance = lambda *a: True\ndef f(n): return 0\n",
        "assert isinstance(f(1), str)",
    ),
    Trick(
        "reads the test's frame",
        "import sys\ndef f(n):\n    return max(c for c in sys._getframe(1).f_code.co_consts if isinstance(c, int))\n",
    ),
    Trick(
        "reads the names of every frame",
        "import re, sys\ndef f(n):\n    frame, found = sys._getframe(), []\n    while frame:\n"
        "        found += re.findall(r'== (\\d+)', repr(frame.f_globals) + repr(frame.f_locals))\n"
        "        frame = frame.f_back\n    return int(found[0])\n",
    ),
    Trick(
        "searches memory for the test",
        "import gc, re\ndef f(n):\n    dicts = [found for found in gc.get_objects() if type(found) is dict]\n"
        "    texts = [text for found in dicts for text in list(found.values()) if type(text) is str]\n"
        "    return int(next(m[1] for text in texts if (m := re.match(r'assert f.20. == (\\d+)', text))))\n",
    ),
    Trick(
        "searches all of its memory for the test",
        "import re\ndef f(n):\n    found = []\n    for line in open('/proc/self/maps'):\n"
        "        start, end = (int(part, 16) for part in line.split()[0].split('-'))\n"
        "        if 'rw' not in line or end - start > 1 << 26: continue\n"
        "        with open('/proc/self/mem', 'rb') as memory:\n            memory.seek(start)\n"
        "            found += re.findall(rb'assert f.20. == (4\\d+)', memory.read(end - start))\n"
        "    return int(found[0])\n",
    ),
    Trick(
        "reads the harness's file",
        "import re, sys\ndef f(n):\n    path = sys.argv[0] if len(sys.argv) else 0\n"
        "    return int(re.search(r'assert f.20. == (\\d+)', open(path).read())[1])\n",
    ),
    Trick(
        "reads the command line and what is on the standard input",
        "import glob, re, sys\ndef f(n):\n    text = sys.stdin.read()\n"
        "    for path in glob.glob('*') + ['/proc/self/cmdline']:\n"
        "        text += open(path, errors='replace').read()\n"
        "    return int(re.search(r'assert f.20. == (\\d+)', text)[1])\n",
    ),
    Trick(
        "jumps over the assertion",
        "import sys\ndef over(frame, event, argument):\n"
        "    if frame.f_lineno == 2: frame.f_lineno = 3\n    return over\n"
        "def f(n):\n    sys._getframe(1).f_trace = over\n    sys.settrace(lambda *a: over)\n    return 1\n",
        LINES,
    ),
    Trick(
        "replaces the check",
        "import sys\ndef f(n):\n    sys._getframe(1).f_globals['right'] = lambda got: True\n    return 1\n",
        "def right(got): return got == 424242\nassert f(20) or 1\nassert right(f(20))\n",
    ),
)


async def naive(trick: Trick, folder: Path) -> bool:
    """Whether a naive harness holds that the trick passed."""
    path = folder / "harness.py"
    path.write_text(NAIVE.format(test=trick.test, program=trick.program), "utf-8")
    ended = await asyncio.create_subprocess_exec(
        sys.executable, str(path), stdin=-3, stdout=-1, stderr=-3, cwd=folder, start_new_session=True
    )
    output, _ = await ended.communicate()
    if trick.told == "exit code":
        return ended.returncode == 0
    return output.decode().splitlines()[-1:] == ["verdict: passed"]


Framework = Literal["plain", "pytest"]
FRAMEWORKS: tuple[Framework, ...] = ("plain", "pytest")


def as_file(test: str) -> str:
    """A statement as a pytest file: between tests that pass, so that it alone decides."""
    body = textwrap.indent(test, "    ")
    return f"from solution import f\ndef test_first(): pass\ndef test_it():\n{body}\ndef test_last(): pass\n"


async def graded(program: str, test: str, framework: Framework = "plain", seconds: float = 2) -> TestOutcome:
    text = test if framework == "plain" else as_file(test)
    tests = CodeTests((text,), ("f",), framework=framework, module="solution")
    report = await run_tests(BOX, program, tests, limits=LIMITS, seconds_per_test=seconds)
    assert report.separate
    return report.outcomes[0]


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.name)
async def test_a_trick_that_fools_a_naive_harness_passes_no_test_here(trick: Trick, tmp_path: Path) -> None:
    fooled, outcome = await asyncio.gather(naive(trick, tmp_path), graded(trick.program, trick.test))
    assert fooled, "a dud: it does not even fool a naive harness"
    assert outcome.verdict in ("failed", "error", "crashed")
    assert outcome.reason


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.name)
async def test_no_trick_passes_a_pytest_file(trick: Trick) -> None:
    assert (await graded(trick.program, trick.test, "pytest")).verdict in ("failed", "error", "crashed")


CHANNEL = """
import os, stat, struct
def is_channel(number):
    try: return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError: return False
channel = next(filter(is_channel, range(3, 100)))
def say(kind, *data):
    data = b''.join(data)
    os.write(channel, struct.pack('<cI', kind, len(data)) + data)
def node(letter, *items): return struct.pack('<cBI', letter, 0, len(items)) + b''.join(items)
def number(n): return b'q' + struct.pack('<q', n)
def ref(n): return b'r' + struct.pack('<I', n)
"""
TESTER = """
import os
def parent(pid): return int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])
def tester(): return parent(os.getppid())
"""
ON_THE_HARNESS = {
    "says what it is before it is loaded": (
        CHANNEL + "say(b'h', node(b'l', b'N', b'N'))\ndef f(n): return 1\n",
        "error",
        "the test: TypeError",
    ),
    "answers before it is asked": (
        CHANNEL + "def f(n): return 1\nsay(b'v', node(b'l', number(1), ref(1)), node(b'l'))\n",
        "error",
        "the test: TypeError",
    ),
    "answers a call itself": (
        CHANNEL + "def f(n):\n    say(b'v', node(b'l', number(1), ref(1)), node(b'l'))\n    os._exit(0)\n",
        "failed",
        "got == 424242: got 1, expected 424242",
    ),
    "answers a call with noise": (CHANNEL + "def f(n): say(b'v', b'noise'); os._exit(0)\n", "error", "nonsense"),
    "says what nobody says": (CHANNEL + "def f(n): say(b'?', node(b'l')); os._exit(0)\n", "error", "unknown message"),
    "announces more than it may say": (
        CHANNEL + "def f(n): os.write(channel, struct.pack('<cI', b'v', 2**32 - 1)); os._exit(0)\n",
        "error",
        "too large to hand over",
    ),
    "changes what it was never given": (
        CHANNEL
        + "def f(n):\n    say(b'v', node(b'l', number(1), ref(1)), node(b'l', ref(2)), node(b't', number(99), ref(3)),"
        + " node(b'l'))\n    os._exit(0)\n",
        "error",
        "nonsense",
    ),
    "calls what is no function of the test": (
        CHANNEL + "def f(n): say(b'b', node(b'l', number(0), ref(1), ref(2)), node(b't'), node(b'D')); os._exit(0)\n",
        "error",
        "nonsense",
    ),
    "closes its channel": (CHANNEL + "import time\ndef f(n): os.close(channel); time.sleep(9)\n", "crashed", "SIGKILL"),
    "kills the one that starts it": ("import os\ndef f(n): os.kill(os.getppid(), 9); return 1\n", "failed", "got 1"),
    "kills the tester": (TESTER + "def f(n): os.kill(tester(), 9)\n", "crashed", ""),
    "rings the tester's alarm": (TESTER + "def f(n): os.kill(tester(), 14); return 1\n", "failed", "got 1"),
    "interrupts the tester": (TESTER + "def f(n): os.kill(tester(), 2); return 1\n", "failed", "got 1"),
    "leaves a process behind": (
        "import os, time\ndef f(n):\n    if os.fork() == 0:\n        os.setsid()\n"
        "        time.sleep(60)\n    return 1\n",
        "failed",
        "got 1",
    ),
    "empties the folder": (
        "import os\ndef f(n):\n    for name in os.listdir(): os.remove(name)\n    return 1\n",
        "failed",
        "got 1",
    ),
    "plants modules": (
        "for name in ('copy', 'json', 'math', 'random'): open(name + '.py', 'w').write('raise SystemExit(0)')\n"
        "def f(n): return 1\n",
        "failed",
        "got 1",
    ),
    "lowers the recursion limit": ("import sys\nsys.setrecursionlimit(50)\ndef f(n): return 1\n", "failed", "got 1"),
    "hangs": ("def f(n):\n    while True: pass\n", "timed_out", "f(20) did not return within 2 s"),
    "hangs while it is looked at": (
        "class H:\n    def __bool__(self):\n        while True: pass\ndef f(n): return H()\n",
        "timed_out",
        "the test was not over within 2 s",
    ),
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", ON_THE_HARNESS)
async def test_what_is_done_to_the_harness_itself_passes_nothing(name: str, framework: Framework) -> None:
    program, verdict, reason = ON_THE_HARNESS[name]
    test = "got = f(20)\nimport copy, random\nassert got\nassert got == 424242\n"
    outcome = await graded(program, test, framework)
    assert outcome.verdict == verdict, outcome
    assert framework == "pytest" or reason in outcome.reason


ODD = {
    "in itself": ("def f(n):\n    a = []\n    a.append(a)\n    return a\n", "assert f(1) == [1]", ("failed",)),
    "endless": ("import itertools\ndef f(n): return itertools.repeat(1)\n", "assert list(f(1)) == [1]", ("error",)),
    "endlessly iterable": (
        "class E:\n    def __iter__(self): return self\n"
        "    def __next__(self): return 1\n    def __len__(self): return 10**18\n"
        "def f(n): return E()\n",
        "assert list(f(1)) == [1]",
        ("error", "timed_out"),
    ),
    "a huge number": ("def f(n): return 1 << 10**7\n", "assert f(1) == 1", ("failed",)),
    "a huge text": ("def f(n): return 'x' * 10**8\n", "assert f(1) == 'x'", ("error",)),
    "a deep tuple": (
        "def f(n):\n    t = ()\n    for _ in range(10**5): t = (t,)\n    return t\n",
        "assert f(1) == ()",
        ("error",),
    ),
    "a deep list": (
        "def f(n):\n    t = []\n    for _ in range(10**5): t = [t]\n    return t\n",
        "assert f(1) == [1]",
        ("failed",),
    ),
    "not a number": ("def f(n): return float('nan')\n", "assert f(1) == f(1)", ("failed",)),
    "a deep recursion": ("def f(n): return f(n + 1)\n", "assert f(1) == 1", ("error",)),
    "an exception that hides": (
        "class Passed(BaseException): pass\ndef f(n): raise Passed\n",
        "assert f(1)",
        ("error",),
    ),
    "an interruption": ("def f(n): raise KeyboardInterrupt\n", "assert f(1)", ("error",)),
    **{
        f"{name} after a right answer": (
            f"left = [1]\ndef f(n):\n    if left: return left.pop()\n    raise {name}\n",
            "assert f(1) == 1\nfor n in (2, 3):\n    assert f(n) == n\n",
            ("error", "crashed"),
        )
        for name in ("KeyboardInterrupt", "GeneratorExit", "SystemExit", "StopIteration", "StopAsyncIteration")
    },
    "an end of the test's loop": (
        "def f(n): raise StopIteration\n",
        "assert list(map(f, [1, 2])) == []",
        ("error",),
    ),
    "an end of the test's loop that a function of the test raised": (
        "kept = []\ndef f(g):\n    try: g()\n    except StopIteration as error: kept.append(error)\n"
        "    if len(kept) > 1: raise kept[0]\n",
        "def g(): raise StopIteration\nassert list(map(f, [g, g])) == [None]",
        ("error",),
    ),
    "a skip": ("import unittest\ndef f(n): raise unittest.SkipTest\n", "assert f(1)", ("error",)),
    "a context that swallows the assertion": (
        "class C:\n    __enter__ = lambda s: s\n    __exit__ = lambda *a: True\ndef f(n): return C()\n",
        "with f(1) as c: assert c == 1",
        ("failed",),
    ),
    "what is left of a value of the test": (
        "class N:\n    __sub__ = lambda s, o: s\n    __abs__ = lambda s: 0.0\n    __len__ = lambda s: 0\n"
        "    __bool__ = lambda s: False\n    __iter__ = lambda s: iter(())\ndef f(n): return N()\n",
        "try: assert abs(f(1) - 4.2) < 1e-9\nexcept TypeError: pass\nelse: raise SystemExit\n"
        "try: assert not list(f(1) - {1})\nexcept TypeError: pass\nelse: raise SystemExit\n"
        "assert not f(1) - 42",
        ("error",),
    ),
    "an assertion that fails in a function of the test": (
        "def f(g):\n    try: g(1)\n    except BaseException: pass\n",
        "def g(n): assert n == 2\nf(g)\n",
        ("failed",),
    ),
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", ODD)
async def test_no_odd_value_passes_or_stops_the_harness(name: str, framework: Framework) -> None:
    program, test, verdicts = ODD[name]
    outcome = await graded(program, test, framework, seconds=9)
    assert outcome.verdict in verdicts, outcome


LOOK = """
import ctypes, os
def look(pid):
    seen = []
    for name in ("mem", "environ", "fd/0", "maps", "cwd", "root"):
        try:
            os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))
            seen.append(name)
        except OSError: pass
    if ctypes.CDLL(None).ptrace(0x4206, pid, 0, 0) == 0: seen.append("ptrace")
    return seen
"""


async def test_nothing_of_the_tester_can_be_looked_into() -> None:
    program = LOOK + TESTER + "def f(n): return look(tester()) + look(os.getppid())\n"
    assert await graded(program, "assert f(1) == []") == TestOutcome("passed")


async def test_a_process_that_is_no_tester_can_be_looked_into() -> None:
    program = LOOK + "if os.fork() == 0: print(*look(os.getppid()), flush=True); os._exit(0)\nos.wait()\n"
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=-1)
    assert {"mem", "environ"} <= set((await ended.communicate())[0].decode().split())


async def test_of_pytest_files_and_what_lies_beside_them_nothing_is_on_any_disk() -> None:
    program = (
        "import os\ndef f(n):\n    found = []\n"
        "    for top in ('.', os.environ['TMPDIR'], os.environ['HOME'], '/tests', '/dev/shm'):\n"
        "        for _, _, names in os.walk(top):\n"
        "            found += [n for n in names if n.startswith(('cases', 'test_'))]\n"
        "    return found\n"
    )
    test = (
        "import pathlib\nfrom program import f\ndef test_f():\n"
        "    assert (pathlib.Path(__file__).parent / 'cases.json').read_text() == '[1]'\n    assert f(1) == []\n"
    )
    tests = CodeTests((test,), framework="pytest", module="program", files={"cases.json": "[1]"})
    report = await run_tests(BOX, program, tests, limits=LIMITS)
    assert report.outcomes == (TestOutcome("passed"),)


async def test_a_program_cannot_put_code_where_pytest_would_find_it() -> None:
    program = (
        "for name in ('conftest.py', 'pytest.ini', 'pytest.py', 'sitecustomize.py'):\n"
        "    open(name, 'w').write('raise SystemExit(0)')\ndef f(n): return 1\n"
    )
    test = "import program\ndef test_f():\n    assert program.f(1) == 2\n"
    tests = CodeTests(("import program\ndef test_f(): program.f(1)\n", test), framework="pytest", module="program")
    report = await run_tests(BOX, program, tests, limits=LIMITS)
    assert [outcome.verdict for outcome in report.outcomes] == ["passed", "failed"]


INTRUDER = """
import sys
open("evil.py", "w").write("import os\\nos._exit(0)")
frame = sys._getframe()
while "self" not in frame.f_locals: frame = frame.f_back
candidate = frame.f_locals["self"]
def f(n): return 77
def introduce(module):
    candidate._references.append(f)
    return [["f", "callable", None], EXTRA]
candidate._introduce = introduce
"""
NAMES = {
    "__path__": """["__path__", "value", ["."]]""",
    "__all__": """["__all__", "value", ["f", "evil"]]""",
    "__getattr__": """["__getattr__", "callable", None]""",
    "a name that was not asked for": """["sorted", "callable", None]""",
}


@pytest.mark.parametrize("form", ["from solution import f, evil", "from solution import *", "import solution"])
@pytest.mark.parametrize("name", NAMES)
async def test_a_program_gives_the_tests_no_name_that_they_did_not_ask_for(name: str, form: str) -> None:
    tests = CodeTests((f"{form}\nassert sorted([2, 1]) == [1, 2]\n",), ("f",), module="solution")
    report = await run_tests(BOX, INTRUDER.replace("EXTRA", NAMES[name]), tests, limits=LIMITS)
    assert report.outcomes[0].verdict == "error"
    assert "other names than it was asked for" in report.outcomes[0].reason


async def test_a_star_import_replaces_nothing_that_a_test_has_from_elsewhere() -> None:
    program = (
        "def abs(n): return 0\ndef isclose(a, b): return True\nlimit = 99\nasked = []\n__all__ = ['abs', 'f']\n"
        "def f(n): return n\ndef g(n): return n + 1\n"
    )
    test = (
        "from math import isclose\nlimit = 1\nfrom solution import *\n"
        "def test_f(): assert abs(f(-3)) == 3 and g(1) == 2 and limit == 1 and not isclose(f(1), 5)\n"
    )
    tests = CodeTests((test,), framework="pytest", module="solution")
    assert (await run_tests(BOX, program, tests, limits=LIMITS)).outcomes == (TestOutcome("passed"),)
