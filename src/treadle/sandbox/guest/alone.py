"""Tests and program in one interpreter, for sandboxes without processes: a hostile program can cheat here."""

from __future__ import annotations

import builtins
import io
import os
import sys

from assertions import WHY, compiled, reason, shown, without_addresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_LONGEST_REASON = 400


class _Modules:
    """Puts modules whose sources are given where ``import`` finds them."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        from _frozen_importlib import ModuleSpec

        return ModuleSpec(name, self) if name in self._texts else None  # pyright: ignore[reportArgumentType]

    def create_module(self, spec: object) -> None:
        """Leave the making of the module to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._texts[module.__name__], f"{module.__name__}.py", "exec"), module.__dict__)


class _Alone:
    def __init__(self, job: dict[str, Any], plan: dict[str, Any]) -> None:
        self._job = job
        self._plan = plan
        self._builtins = dict(builtins.__dict__)
        self._last: list[Any] = []
        self._assertions: list[Any] = []
        self._namespace: dict[str, Any] = {}

    def load(self) -> tuple[str, str]:
        """Load the program and the setup; a verdict that holds for all tests where that fails."""
        if self._plan["framework"] == "pytest":
            return "error", "pytest files need a sandbox that can start processes"
        sys.meta_path.insert(0, _Modules(self._job["modules"]))  # pyright: ignore[reportArgumentType]
        module = type(sys)(self._job["name"])
        sys.modules[module.__name__] = module
        try:
            code = compile(self._job["source"], f"{module.__name__}.py", "exec", dont_inherit=True)
            exec(code, module.__dict__)
            base = {"__name__": "tests", "__builtins__": self._builtins, WHY: self._why}
            exec(compile(self._plan["setup"], "<setup>", "exec", dont_inherit=True), base)
        except BaseException as error:
            return self._judge(error)
        for name in self._plan["entries"]:
            entry = module.__dict__.get(name)
            if name not in module.__dict__:
                return "error", f"NameError: the program defines no {name}"
            base[name] = self._recording(name, entry) if type(entry) is type(main) else entry
        self._namespace = base
        return "", ""

    def _recording(self, name: str, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._last = [name, args]
            self._last.append(function(*args, **kwargs))
            return self._last[2]

        return call

    def one(self, number: int, text: str) -> tuple[str, str]:
        """Verdict of a test, and the reason."""
        self._last = []
        try:
            code, self._assertions = compiled(text, f"<test {number + 1}>")
            namespace = dict(self._namespace)
            exec(code, namespace)
            if self._plan["check"] is not None:
                namespace[self._plan["check"]](namespace[self._plan["entries"][0]])
        except BaseException as error:
            return self._judge(error)
        return "passed", ""

    def _why(self, number: int, *values: Any) -> str:
        call = f"{self._last[0]}({', '.join(map(shown, self._last[1]))})" if self._last else ""
        gave = shown(self._last[2]) if len(self._last) > 2 else "nothing"
        return reason(self._assertions[number], values, ("candidate", *self._last[:1]), call, gave)

    def _judge(self, error: BaseException) -> tuple[str, str]:
        said = f"{type(error).__name__}: {error}"
        if isinstance(error, SystemExit):
            return "crashed", f"the program ended itself with {said}"
        return ("failed", str(error)) if isinstance(error, AssertionError) else ("error", said)


def main(read: Callable[[], Any]) -> None:
    """Run tests as a sandbox's program.

    Args:
        read: Gives the next part of the standard input: first the program, then the tests.
    """
    import _json

    alone = _Alone(read(), read())
    plan = alone._plan  # pyright: ignore[reportPrivateUsage]
    word, write = _json.encode_basestring_ascii, os.write
    sys.stdout = sys.stderr = io.StringIO()
    verdict, why = alone.load()
    ended = False
    for number, text in enumerate(plan["tests"]):
        told = (verdict, why) if verdict else alone.one(number, text)
        if ended:
            told = ("not_run", "a test before it did not pass")
        said = word(without_addresses(told[1])[:_LONGEST_REASON])
        write(1, f'{{"run":{word(plan["run"])},"test":{number},"verdict":"{told[0]}","reason":{said}}}\n'.encode())
        ended = ended or (plan["stop_at_first"] and told[0] != "passed")
