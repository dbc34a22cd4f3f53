"""Warm cells under stress: what fails once does not fail for ever, and what is closed is closed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from treadle.sandbox.base import MIB, Command, Limits, Program, Surroundings
from treadle.sandbox.bubblewrap import Bubblewrap
from treadle.sandbox.cells import children
from treadle.sandbox.linux import LinuxSandbox
from treadle.sandbox.namespaces import Namespaces


@pytest.fixture(params=[Bubblewrap, Namespaces])
async def box(request: pytest.FixtureRequest) -> AsyncGenerator[LinuxSandbox]:
    sandbox = request.param(width=1)
    yield sandbox
    await sandbox.aclose()


async def test_a_box_that_cannot_be_started_is_refused_and_the_next_one_works(
    box: LinuxSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: Any, **__: Any) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", no_room)
        for work in (Program("print(1)"), Command(("true",)), Program("print(1)")):
            result = await box.execute(work)
            assert (result.status, "Too many open files" in result.reason) == ("refused", True)
    assert (await box.execute(Program("print(1)"))).stdout == "1\n"


async def test_a_cell_that_died_while_it_waited_costs_nobody_a_result(box: LinuxSandbox) -> None:
    assert (await box.execute(Program("print(1)"))).status == "ok"
    for process in children(os.getpid()):
        os.kill(process, signal.SIGKILL)
    assert (await box.execute(Program("print(2)"))).stdout == "2\n"


async def test_closing_ends_what_runs_and_takes_no_more(box: LinuxSandbox) -> None:
    endless = asyncio.create_task(box.execute(Program("import time; time.sleep(600)"), limits=Limits(seconds=60)))
    waiting = asyncio.create_task(box.execute(Program("print(1)")))
    async with asyncio.timeout(10):
        while not children(os.getpid()):  # noqa: ASYNC110  only the kernel tells
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        await box.aclose()
        assert [(await each).status for each in (endless, waiting)] == ["refused", "refused"]
    assert (await box.execute(Program("print(1)"))).reason == "the sandbox is closed"
    assert not children(os.getpid())


async def test_another_event_loop_is_refused_in_words(box: LinuxSandbox) -> None:
    assert (await box.execute(Program("print(1)"))).status == "ok"
    result = await asyncio.to_thread(asyncio.run, box.execute(Program("print(1)")))
    assert (result.status, "another event loop" in result.reason) == ("refused", True)


async def test_a_cancellation_that_comes_with_the_answer_is_one(
    box: LinuxSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await box.execute(Program("print(1)"))).status == "ok"
    running: list[asyncio.Task[Any]] = []

    async def answered_and_cancelled(*_: Any) -> bytes:
        running[0].cancel()
        await asyncio.sleep(0)
        return b"{}"

    monkeypatch.setattr("treadle.sandbox.cells.Cell._answer", answered_and_cancelled)
    running.append(asyncio.create_task(box.execute(Program("print(1)"))))
    with pytest.raises(asyncio.CancelledError):
        await running[0]


@pytest.mark.parametrize(
    "limits",
    [
        Limits(seconds=float("inf")),
        Limits(seconds=float("nan")),
        Limits(seconds=0),
        Limits(memory=-1),
        Limits(memory=2**62),
        Limits(processes=0),
        Limits(file_bytes=0),
        Limits(open_files=0),
        Limits(output_bytes=0),
        Limits(cpu_seconds=0),
    ],
    ids=str,
)
async def test_limits_that_are_none_are_refused(box: LinuxSandbox, limits: Limits) -> None:
    assert (await box.execute(Program("print(1)"), limits=limits)).status == "refused"


@pytest.mark.parametrize(
    "files",
    [
        {"large": b"x" * (2 * MIB)},
        {"a": b"", "a/b": b""},
        {"n" * 300: b""},
        {f"f{n}": b"" for n in range(20_000)},
        {"\ud800": b""},
    ],
    ids=["larger than the folder", "file and folder", "long name", "too many", "no text"],
)
async def test_what_cannot_start_is_refused_and_no_fault_of_the_program(
    box: LinuxSandbox, files: dict[str, bytes]
) -> None:
    for work in (Program("print(1)"), Command(("true",))):
        result = await box.execute(work, files=files, limits=Limits(file_bytes=MIB))
        assert (result.status, result.exit_code, bool(result.reason)) == ("refused", None, True)
    assert (await box.execute(Program("print(1)"))).stdout == "1\n"


@pytest.mark.parametrize("argv", [("echo", "\ud800"), ("echo", "a\0b"), ()])
async def test_arguments_that_are_no_text_are_refused(box: LinuxSandbox, argv: tuple[str, ...]) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        assert (await box.execute(Command(argv))).status == "refused"
    assert len(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208


@pytest.mark.parametrize(
    "source", ["import sys; sys.exit(2**80)", "import sys; sys.exit(-1)", "import sys; sys.stdout.close()", "exit(300)"]
)
async def test_a_warm_program_ends_with_the_code_of_a_fresh_interpreter(box: LinuxSandbox, source: str) -> None:
    warm = await box.execute(Program(source))
    fresh = await box.execute(Command(("python", "-c", source)))
    assert (warm.status, warm.exit_code) == (fresh.status, fresh.exit_code)


async def test_the_environment_of_work_stands_on_no_command_line(box: LinuxSandbox) -> None:
    task = asyncio.create_task(
        box.execute(
            Command(("sleep", "600")),
            limits=Limits(seconds=60),
            surroundings=Surroundings(env={"TOKEN": "s3cr3t-t0k3n"}),
        )
    )
    async with asyncio.timeout(10):
        while not (lines := _command_lines(os.getpid())):  # noqa: ASYNC110  only the kernel tells
            await asyncio.sleep(0.01)
    assert not any("s3cr3t" in line for line in lines)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def _command_lines(parent: int) -> list[str]:
    lines: list[str] = []
    for child in children(parent):
        lines += [Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace"), *_command_lines(child)]
    return lines


async def test_work_at_one_time_never_shares_a_user(box: LinuxSandbox) -> None:
    other = Bubblewrap(width=1)
    tells = "import os, time; print(os.getuid(), flush=True); time.sleep(0.5)"
    ran = await asyncio.gather(
        box.execute(Program(tells)),
        other.execute(Program(tells)),
        box.execute(Command(("python", "-c", tells))),
        other.execute(Command(("python", "-c", tells))),
    )
    await other.aclose()
    # Only root can give work users of their own; anybody else's are kept apart by their namespaces.
    assert len({result.stdout for result in ran}) == (4 if os.geteuid() == 0 else 1)


async def test_a_long_input_cannot_be_changed(box: LinuxSandbox) -> None:
    source = "import os\ntry:\n    os.ftruncate(0, 1 << 30)\nexcept OSError as error:\n    print('no')"
    assert (await box.execute(Program(source), stdin=b"x" * 200_000)).stdout == "no\n"


async def test_descriptors_that_run_out_leave_none_open(box: LinuxSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await box.execute(Program("print(1)"))).status == "ok"
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    make_pipe = os.pipe
    for allowed in range(2):
        left = [None] * allowed

        def pipe(left: list[None] = left) -> tuple[int, int]:
            if not left:
                raise OSError(24, "Too many open files")
            left.pop()
            return make_pipe()

        with monkeypatch.context() as patched:
            patched.setattr(os, "pipe", pipe)
            assert (await box.execute(Program("print(1)"), stdin=b"x" * 5000)).status == "refused"
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert (await box.execute(Program("print(2)"))).stdout == "2\n"


async def test_an_input_waits_for_no_pipe_that_is_too_small_for_it(
    box: LinuxSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pipe = os.pipe

    def small() -> tuple[int, int]:
        ends = make_pipe()
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
        return ends

    monkeypatch.setattr(os, "pipe", small)
    async with asyncio.timeout(20):
        result = await box.execute(Program("print(len(input()))"), stdin=b"x" * 60_000)
    assert result.stdout == "60000\n"
