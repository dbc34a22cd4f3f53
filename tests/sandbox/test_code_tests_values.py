"""What tests can do with the objects, exceptions and words of a program, as if it were in their process."""

from __future__ import annotations

import sys

import pytest

from treadle.sandbox.base import Limits
from treadle.sandbox.code_tests import CodeTests, run_tests
from treadle.sandbox.unprotected import Unprotected

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are tested in processes that fork")

LIMITS = Limits(seconds=10)
BOX = Unprotected()

POINT = """
from dataclasses import dataclass
@dataclass(frozen=True, order=True)
class P:
    x: int
    y: int = 0
    def __add__(self, other): return P(self.x + other.x, self.y)
    def __mul__(self, n): return P(self.x * n)
    __rmul__ = __mul__
    def __neg__(self): return P(-self.x)
    def __abs__(self): return self.x
    def __int__(self): return self.x
    __index__ = __int__
    def __float__(self): return self.x / 2
    def __format__(self, form): return f"<{form}>"
    def __reversed__(self): return iter([self.y, self.x])
    def __iter__(self): return iter([self.x, self.y])
def f(n): return P(n, n)
"""
OBJECTS = (
    "assert f(1) == P(1, 1) and f(1) != P(2, 1) and [f(1)] == [P(1, 1)] and f(1) != (1, 1)",
    "assert P(1) < P(2) and sorted([P(2), P(1)])[0].x == 1 and max(P(2), P(3)).x == 3",
    "assert (P(1) + P(2)).x == 3 and (P(2) * 3).x == 6 and (3 * P(2)) == P(6) and (-P(1)).x == -1",
    "assert (abs(P(9)), int(P(3)), float(P(5)), f'{P(1):abc}', 'ab'[P(1)]) == (9, 3, 2.5, '<abc>', 'b')",
    "assert len({P(1), P(1), P(2)}) == 2 and {P(1): 5}[P(1)] == 5",
    "assert list(reversed(P(1, 2))) == [2, 1] and 2 in P(1, 2) and 3 not in P(1, 2)",
)


@pytest.mark.parametrize("test", OBJECTS)
async def test_objects_are_compared_and_computed_with(test: str) -> None:
    report = await run_tests(BOX, POINT, CodeTests((test,), ("f", "P")), limits=LIMITS)
    assert report.all_passed, report.first_fault


FAILING = """
import decimal, json, queue, re, lib
class A(Exception): pass
class B(A): pass
class C(B, ValueError): pass
def f(how):
    if how == "B": raise B("b")
    if how == "C": raise C("c")
    if how == "re": re.compile("(")
    if how == "json": json.loads("{")
    if how == "queue": raise queue.Empty
    if how == "decimal": decimal.Decimal(1) / 0
    if how == "lib": raise lib.Wrong("no", 3)
def g(function):
    try: return function()
    except A as error: return f"A {error}"
    except (ValueError, lib.Wrong) as error: return f"{type(error).__name__} {error}"
"""
CATCHING = (
    "try: f('B')\nexcept A as error: assert error.args == ('b',) and type(error).__name__ == 'B'",
    "try: f('C')\nexcept ValueError as error: assert isinstance(error, A) and isinstance(error, B)",
    "import re\ntry: f('re')\nexcept re.error as error: assert error.pos == 0",
    "import json\ntry: f('json')\nexcept json.JSONDecodeError as error: assert error.lineno == 1",
    "import queue\ntry: f('queue')\nexcept queue.Empty: pass",
    "import decimal\ntry: f('decimal')\nexcept decimal.DivisionByZero: pass",
    "import lib\ntry: f('lib')\nexcept lib.Wrong as error: assert error.args == ('no', 3)",
    "assert g(lambda: int('x')).startswith('ValueError invalid')",
    "import json\nassert g(lambda: json.loads('{')).startswith('JSONDecodeError')",
    "def h(): raise A('own')\nassert g(h) == 'A own'",
    "import lib\ndef h(): raise lib.Wrong('w')\nassert g(h) == 'Wrong w'",
    "def h(): raise KeyError('k')\ntry: g(h)\nexcept KeyError as error: assert error.args == ('k',)\nelse: assert 0",
)


@pytest.mark.parametrize("test", CATCHING)
async def test_exceptions_are_caught_by_any_of_their_classes_on_both_sides(test: str) -> None:
    modules = {"lib": "class Wrong(Exception): pass\n"}
    report = await run_tests(BOX, FAILING, CodeTests((test,), ("f", "g", "A", "B"), modules=modules), limits=LIMITS)
    assert report.all_passed, report.first_fault


async def test_what_a_program_prints_in_a_call_is_printed_in_the_test() -> None:
    program = "def f(n):\n    print('hé', n)\n    return n\ndef g(h):\n    print(1)\n    h()\n    print(3)\n"
    test = (
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as said:\n    f(1)\n"
        "    g(lambda: print(2))\nassert said.getvalue() == 'hé 1\\n1\\n2\\n3\\n'\nassert f(2) == 2"
    )
    file = "from solution import f\ndef test_f(capsys):\n    f(5)\n    assert capsys.readouterr().out == 'hé 5\\n'\n"
    plain = await run_tests(BOX, program, CodeTests((test,), ("f", "g")), limits=LIMITS)
    assert plain.all_passed, plain.first_fault
    files = CodeTests((file,), framework="pytest", module="solution")
    as_file = await run_tests(BOX, program, files, limits=LIMITS)
    assert as_file.all_passed, as_file.first_fault
    endless = "def f(n):\n    print('x' * 10**7)\n    return n\n"
    assert (await run_tests(BOX, endless, CodeTests(("assert f(1) == 1",), ("f",)), limits=LIMITS)).all_passed


KINDS = """
from collections import namedtuple
from enum import Enum, IntEnum
from typing import NamedTuple
N = namedtuple("N", "x y")
class T(NamedTuple):
    x: int
    def twice(self): return T(2 * self.x)
class I(IntEnum):
    A = 1
class S(str, Enum):
    A = "a"
class L(list):
    def total(self): return sum(self)
class D(dict):
    name = "d"
def f(kind): return {"N": N(1, [2]), "T": T(1), "I": I.A, "S": S.A, "L": L([1, [2]][:1]), "D": D({1: 2})}[kind]
def many(n): return [N(i, i) for i in range(n)]
def is_T(value): return isinstance(value, T)
"""
SUBCLASSES = (
    "assert f('N').x == 1 and f('N') == (1, [2]) and f('N')._asdict() == {'x': 1, 'y': [2]} and f('N') != (1, 2)",
    "assert f('T') == T(1) == (1,) and f('T').twice().x == 2 and isinstance(f('T'), T) and is_T(f('T'))",
    "assert f('I') == 1 and f('I').name == 'A' and f('I') is I.A and f('I') + 1 == 2 and f('S').value == f('S') == 'a'",
    "assert f('L') == [1] and f('L').total() == 1 and isinstance(f('L'), list)",
    "assert f('D') == {1: 2} and f('D').name == 'd'",
    "import copy\nassert copy.deepcopy(f('N')) == (1, [2]) and {f('N')[:1]: 1, f('T'): 2}[(1,)] == 2",
    "assert many(3)[2].y == 2 and len(many(150_000)) == 150_000",
)


@pytest.mark.parametrize("test", SUBCLASSES)
async def test_values_of_subclasses_are_plain_values_with_their_own_attributes(test: str) -> None:
    report = await run_tests(
        BOX, KINDS, CodeTests((test,), ("f", "T", "I", "many", "is_T")), limits=LIMITS, seconds_per_test=8
    )
    assert report.all_passed, report.first_fault
