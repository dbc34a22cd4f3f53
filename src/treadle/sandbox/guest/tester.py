"""Runs tests in a process that the program under test can neither see nor touch, and says what became of each."""

from __future__ import annotations

import _json
import _socket
import builtins
import gc
import os
import sys
from _frozen_importlib import ModuleSpec

from assertions import WHY, compiled, reason, shown, without_addresses
from clock import Clock, Overdue
from connection import Connection, Ended
from raising import class_of, text_of
from remote import Entry, Missing, place_of
from sources import Finder
from spawner import spawner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_REASON = 400
_signal: Any = __import__("_signal")
_IGNORED = (1, 2, 3, 10, 12)
"""SIGHUP, SIGINT, SIGQUIT, SIGUSR1 and SIGUSR2: nobody but the program would send them."""
_DUMPABLE, _SUBREAPER, _NO_NEW_PRIVILEGES = 4, 36, 38


class Tester:
    """Runs tests one after another.

    Args:
        connection: To the program.
        plan: What there is to run; see `treadle.sandbox.code_tests`.
        out: Descriptor that outcomes are written to.
    """

    def __init__(self, connection: Connection, plan: dict[str, Any], out: int) -> None:
        self.connection = connection
        self.plan = plan
        self._out = out
        self.clock = Clock(plan["seconds"], plan["seconds_per_test"])
        self.entries: dict[str, Any] = {}
        self._namespace: dict[str, Any] = {}
        self._assertions: list[Any] = []
        self._alias = ""

    def run(self) -> None:
        """Run them all, and write a line for each."""
        ended = ""
        for number, text in enumerate(self.plan["tests"]):
            if ended or self.clock.over:
                self._write(number, "not_run", ended or "the time of the whole run was over")
                continue
            verdict, why, final = self._one(number, text)
            self._write(number, verdict, why)
            if final:
                for rest in range(number + 1, len(self.plan["tests"])):
                    self._write(rest, verdict, why)
                return
            if verdict != "passed" and self.plan["stop_at_first"]:
                ended = "a test before it did not pass"

    def _one(self, number: int, text: str) -> tuple[str, str, bool]:
        """Verdict, reason, and whether it holds for every further test."""
        loading = False
        connection = self.connection
        connection.last, connection.failed_inside = [], None
        try:
            fresh = not connection.usable
            if fresh:
                connection.start()
            try:
                self.clock.start()
                if fresh:
                    loading = True
                    self._prepare(connection.introduction())
                    loading = False
                self.body(number, text)
            finally:
                self.clock.stop()
            if self.clock.ran_out:
                raise Overdue
            if connection.fault is not None:
                raise connection.fault
            if connection.failed_inside is not None:
                raise connection.failed_inside
        except BaseException as error:
            self.clock.stop()
            verdict, why = self._judge(error, loading)
            return verdict, why, (loading and connection.generation == 1) or isinstance(error, SetupError)
        return "passed", "", False

    def _prepare(self, introduction: list[Any]) -> None:
        """Take what the program says of itself: nothing but what stands for the names that were asked for."""
        told, names = introduction
        if [name for name, _, _ in told] != self.plan["names"]:
            raise Ended("error", "the program's process answered nonsense (other names than it was asked for)")
        for number, (name, kind, value) in enumerate(told):
            if name in self.entries:
                continue
            if kind == "callable":
                self.entries[name] = Entry(self.connection, number, name)
            elif kind == "exception":
                self.entries[name] = class_of(value, self.connection.modules)
            elif kind == "value":
                self.entries[name] = value
        own = ", ".join(name for name in names if not name.startswith("_"))[:200]
        for name in self.plan["entries"]:
            self.entries.setdefault(name, Missing(f"the program defines no {name}; its names: {own or 'none'}"))
        if not self._namespace:
            if self.plan["module"]:
                self._make_module(self.plan["module"])
            self._set_up()

    def _make_module(self, name: str) -> None:
        """The program as a module: no package, so that importing from it never looks for a file."""
        module = sys.modules[name] = type(sys)(name)
        module.__spec__ = ModuleSpec(name, None)
        module.__dict__.update(self.entries)
        own = set(self.plan["entries"])
        module.__dict__["__all__"] = [one for one in self.entries if one in own or not hasattr(builtins, one)]

    def _set_up(self) -> None:
        entries = {name: self.entries[name] for name in self.plan["entries"]}
        self._namespace = {"__name__": "tests", "__builtins__": builtins, WHY: self._why, **entries}
        if self.plan["setup"]:
            try:
                exec(compile(self.plan["setup"], "<setup>", "exec", dont_inherit=True), self._namespace)
            except Exception as error:
                raise SetupError(f"the tests' setup: {type(error).__name__}: {text_of(error)}") from None
        self._namespace.update(entries)

    def loaded(self, text: str, file: str) -> dict[str, Any]:
        """Run the text of a test; the names that it made."""
        code, self._assertions = compiled(text, file)
        namespace = {**self._namespace, "__file__": file}
        exec(code, namespace)
        return namespace

    def body(self, number: int, text: str) -> None:
        """Run one test to its end; what it raises says why it did not pass."""
        namespace = self.loaded(text, f"<test {number + 1}>")
        check = self.plan["check"]
        if check is None:
            return
        function = namespace[check]
        self._alias = (getattr(getattr(function, "__code__", None), "co_varnames", None) or ("",))[0]
        function(self.entries[self.plan["entries"][0]])

    def _why(self, number: int, *values: Any) -> str:
        last, about = self.connection.last, self._assertions[number]
        names = tuple(filter(None, (self._alias, *last[:1])))
        if self._alias:
            about.text = about.text.replace(f"{self._alias}(", f"{self.plan['entries'][0]}(")
        return reason(about, values, names, self._last_call(), shown(last[3]) if len(last) > 3 else "nothing")

    def _last_call(self) -> str:
        last = self.connection.last
        if not last:
            return ""
        said = ", ".join([*map(shown, last[1]), *(f"{name}={shown(value)}" for name, value in last[2].items())])
        return f"{last[0]}({said if len(said) <= 150 else said[:149] + '…'})"

    def _judge(self, error: BaseException, loading: bool) -> tuple[str, str]:
        place = place_of(error)
        said = f"{type(error).__name__}: {text_of(error)}".rstrip(": ")
        call = self._last_call()
        inside = f" in {call}" if call and len(self.connection.last) == 3 else ""
        if isinstance(error, Overdue):
            what = "the program was still being loaded" if loading else inside and f"{call} did not return"
            return "timed_out", f"{what or 'the test was not over'} {self.clock.said}"
        if isinstance(error, Ended):
            return error.verdict, f"{text_of(error)}{inside}"
        if isinstance(error, SetupError):
            return "error", text_of(error)
        if place is not None:
            where = f" ({place})" if place else ""
            if any(kind.__name__ == "SystemExit" for kind in type(error).__mro__):
                return "crashed", f"the program ended itself with {said}{where}{inside}"
            return "error", f"{said}{where}{inside}"
        if isinstance(error, AssertionError):
            return "failed", text_of(error) or "an assertion of the test did not hold"
        return "error", f"the test: {said}"

    def _write(self, number: int, verdict: str, why: str) -> None:
        why = without_addresses(why)
        why = why if len(why) <= LONGEST_REASON else why[: LONGEST_REASON - 1] + "…"
        word = _json.encode_basestring_ascii
        line = f'{{"run":{word(self.plan["run"])},"test":{number},"verdict":"{verdict}","reason":{word(why)}}}\n'
        rest = line.encode()
        while rest:
            rest = rest[os.write(self._out, rest) :]


class SetupError(Exception):
    """The tests' own setup failed."""


def main(read: Callable[[], Any], kind: type[Tester] = Tester) -> None:
    """Run tests as a sandbox's program.

    Args:
        read: Gives the next part of the standard input: first the program, then the tests.
        kind: What runs them.
    """
    job = read()
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    cwd = os.getcwd()
    sys.path[:] = [path for path in sys.path if path and not f"{os.path.realpath(path)}/".startswith(f"{cwd}/")]
    process = _process()
    if process is not None:
        process.prctl(_DUMPABLE, 0, 0, 0, 0)
    ours, theirs = _socket.socketpair()
    gc.freeze()
    if os.fork() == 0:
        try:
            for stream in range(3):
                os.dup2(nothing, stream)
            os.dup2(theirs.detach(), 3)
            os.closerange(4, 1 << 16)
            _lower(process)
            sys.path.insert(0, cwd)
            spawner(_socket.socket(fileno=3), job, process)
        finally:
            os._exit(0)
    theirs.close()
    for number in _IGNORED:
        _signal.signal(number, _signal.SIG_IGN)
    os.dup2(nothing, 2)
    sys.meta_path.insert(0, Finder(job["modules"]))  # pyright: ignore[reportArgumentType]
    connection = Connection(ours, frozenset(job["modules"]))
    try:
        kind(connection, read(), out).run()
    finally:
        connection.close()
        os._exit(0)


def _process() -> Any:
    if sys.platform != "linux":
        return None
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _lower(process: Any) -> None:
    """Adopt orphans, and give up for good whatever could look into another process."""
    if process is None:
        return
    import ctypes

    process.prctl(_SUBREAPER, 1, 0, 0, 0)
    process.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    process.capset(ctypes.byref(head), ctypes.byref((ctypes.c_uint32 * 6)()))
