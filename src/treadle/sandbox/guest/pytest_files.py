"""Tests that are pytest files: collected from memory, so that nothing of them is ever where the program could read."""

from __future__ import annotations

import builtins
import io
import os
import sys

import tester

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_FOLDER = "/tests"
_OPTIONS = ["-q", "-x", "--noconftest", "--assert=plain", f"-c{os.devnull}", "--rootdir=/"]
_LEFT_OUT = ("cacheprovider", "faulthandler", "unraisableexception", "threadexception", "logging", "junitxml")
_MISSING = "pytest is missing in the sandbox's Python; install it there: python -m pip install 'treadle[sandbox]'"


class PytestTester(tester.Tester):
    """Runs each test as a pytest file: it passes if at least one of its tests did, and all that are not skipped."""

    def body(self, number: int, text: str) -> None:
        """See `tester.Tester.body`."""
        try:
            import pytest
        except ImportError:
            raise tester.SetupError(_MISSING) from None
        file = f"{_FOLDER}/test_{number + 1}.py"
        module = type(sys)(f"test_{number + 1}")
        with _Files({f"{_FOLDER}/{name}": content for name, content in self.plan["files"].items()}):
            module.__dict__.update(self.loaded(text, file))
            session = _Session(module, file, self)
            off = [option for name in _LEFT_OUT for option in ("-p", f"no:{name}")]
            code = int(pytest.main([*_OPTIONS, *off], plugins=[session]))
        if session.error is not None:
            raise session.error
        if self.clock.ran_out or self.connection.fault:
            return  # which is what becomes of the test
        if session.failed:
            raise AssertionError(session.failed)
        if not session.passed:
            raise AssertionError("no test of the file ran")
        left = session.collected - session.passed - session.skipped
        if left or code:
            raise AssertionError(
                f"pytest ended with code {code}; {len(left)} tests of the file did not run to their end"
            )


class _Session:
    """A plugin that collects one module, and keeps what went wrong first."""

    def __init__(self, module: Any, file: str, owner: PytestTester) -> None:
        self._module = module
        self._file = file
        self._owner = owner
        self.collected: set[str] = set()
        self.passed: set[str] = set()
        self.skipped: set[str] = set()
        self.failed = ""
        self.error: BaseException | None = None

    def pytest_collection(self, session: Any) -> bool:
        """Collect the module instead of looking for files."""
        import pathlib

        import pytest

        kind: Any = pytest.Module
        node = kind.from_parent(session, path=pathlib.Path(self._file))
        node.obj = self._module
        session.items = list(session.genitems(node))
        session.testscollected = len(session.items)
        hook = session.config.hook
        hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        hook.pytest_collection_finish(session=session)
        self.collected = {item.nodeid for item in session.items}
        return True

    def pytest_collectreport(self, report: Any) -> None:
        """Keep why the module cannot be collected."""
        if report.failed and not self.failed:
            self.failed = str(report.longrepr).strip()[-300:] or "the file cannot be collected"

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Keep what a test raised."""
        error = None if call.excinfo is None else call.excinfo.value
        if error is not None and self.error is None and self._raised(item, error):
            self.error = error
        if self._owner.clock.ran_out or self._owner.connection.fault:
            item.session.shouldstop = "the program is gone"

    def _raised(self, item: Any, error: BaseException) -> bool:
        import pytest

        return not isinstance(error, pytest.skip.Exception) and item.get_closest_marker("xfail") is None

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep which tests passed, which were skipped and why the first failed."""
        if report.failed and not self.failed:
            self.failed = str(report.longrepr).strip()[-300:] or "a test of the file failed"
        if report.skipped:
            self.skipped.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)


class _Files:
    """Files that can be opened for reading, without being anywhere."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._open = io.open

    def __enter__(self) -> None:
        io.open = builtins.open = self._opened  # pyright: ignore[reportAttributeAccessIssue]

    def __exit__(self, *error: object) -> None:
        io.open = builtins.open = self._open

    def _opened(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        text = None if isinstance(file, int) else self._texts.get(os.path.normpath(os.fsdecode(file)))
        if text is None or "w" in mode:
            return self._open(file, mode, *args, **kwargs)
        return io.BytesIO(text.encode()) if "b" in mode else io.StringIO(text)


def main(read: Callable[[], Any]) -> None:
    """Run pytest files as a sandbox's program; see `tester.main`."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    tester.main(read, PytestTester)
