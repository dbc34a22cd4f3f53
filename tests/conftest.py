"""Fixtures and rules for every suite: no key, no network, and no silent skip where everything is required."""

from __future__ import annotations

import os
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
REQUIRE_ALL = os.environ.get("TREADLE_REQUIRE") == "all"
LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets beside the checkout."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the public data sets are not beside this checkout")
    return folder


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """No test can reach a real account: every key is taken out of the environment."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_TOKEN")) or name == "GOOGLE_APPLICATION_CREDENTIALS":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """A test that tries to reach anything but this machine fails."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def allowed(address: Any) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):  # pyright: ignore[reportUnknownArgumentType]
            pytest.fail(f"a test tried to reach {address[0]}")  # pyright: ignore[reportUnknownMemberType]

    def guarded(self: socket.socket, address: Any) -> None:
        allowed(address)
        connect(self, address)

    def guarded_ex(self: socket.socket, address: Any) -> int:
        allowed(address)
        return connect_ex(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_ex)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where everything is required, a skipped test is a failure, unless it needs the public data sets."""
    report = yield
    if REQUIRE_ALL and report.skipped and not hasattr(report, "wasxfail") and item.get_closest_marker("shared") is None:
        report.outcome = "failed"
        report.longrepr = f"skipped although everything is required: {report.longrepr}"
    return report
