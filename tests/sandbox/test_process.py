"""Processes started from the host: bounded in time and output, nothing of them left."""

from __future__ import annotations

import asyncio
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from treadle.errors import SandboxError
from treadle.sandbox.base import Limits, Surroundings
from treadle.sandbox.child import Process
from treadle.sandbox.process import Ended, env_for, run_process

ENV = {"PATH": "/usr/bin:/bin"}
LONG = Limits(seconds=20)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is left")


async def sh(script: str, limits: Limits = LONG, **options: Any) -> Ended:
    return await run_process(["sh", "-c", script], env=ENV, limits=limits, **options)


def terminate(process: Process) -> None:
    process.terminate()


def gone(pid: int) -> bool:
    """Whether a process ended, or does so within the moment that dying takes."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([fd], [], [], 1)
    os.close(fd)
    return bool(ended)


def reaped(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def open_fds() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(params=["pidfd", "polled"])
def _watching(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    if request.param == "polled":
        monkeypatch.setattr("treadle.sandbox.child.pidfd", lambda pid: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]


@pytest.mark.usefixtures("_watching")
class TestHowProcessesEnd:
    async def test_both_streams_and_the_exit_code_come_back(self) -> None:
        ended = await sh("echo out; echo err >&2; exit 3")
        assert (ended.stdout, ended.stderr, ended.exit_code, ended.signal) == ("out\n", "err\n", 3, None)
        assert not ended.timed_out
        assert not ended.truncated
        assert 0 < ended.seconds < 20

    async def test_the_signal_that_killed_it(self) -> None:
        ended = await sh("kill -SEGV $$")
        assert (ended.exit_code, ended.signal) == (None, signal.SIGSEGV)

    async def test_the_wall_clock_ends_it_with_its_children(self) -> None:
        ended = await sh("sleep 60 & echo $!; exec sleep 60", Limits(seconds=0.2))
        assert ended.timed_out
        assert ended.signal == signal.SIGKILL
        assert ended.seconds < 1
        assert gone(int(ended.stdout))

    async def test_children_do_not_outlive_their_main_process(self) -> None:
        ended = await sh("sleep 60 & echo $!")
        assert (ended.exit_code, ended.timed_out) == (0, False)
        assert ended.seconds < 5
        assert gone(int(ended.stdout))

    async def test_many_at_once_leave_nothing(self) -> None:
        before = open_fds()
        all_ended = await asyncio.gather(*(sh(f"echo $$; exit {code}") for code in range(40)))
        assert [ended.exit_code for ended in all_ended] == list(range(40))
        assert all(reaped(int(ended.stdout)) for ended in all_ended)
        assert open_fds() == before

    def test_a_loop_in_another_thread_will_do(self) -> None:
        async def elsewhere() -> Ended:
            return await asyncio.to_thread(asyncio.run, sh("echo out"))

        assert asyncio.run(elsewhere()).stdout == "out\n"


async def test_the_environment_is_exactly_the_one_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "secret")
    ended = await run_process(["/usr/bin/env"], env={"A": "1"}, limits=LONG)
    assert ended.stdout == "A=1\n"


async def test_no_descriptor_of_this_process_is_inherited(tmp_path: Path) -> None:
    with (tmp_path / "f").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        ended = await sh("ls -1 /proc/self/fd")
    assert ended.stdout.split()[:3] == ["0", "1", "2"]
    assert len(ended.stdout.split()) == 4


class TestStreams:
    async def test_a_megabyte_goes_in_and_comes_out(self) -> None:
        text = bytes(i % 26 + 97 for i in range(10**6))
        ended = await run_process(["cat"], env=ENV, stdin=text, limits=Limits(output_bytes=2 * 10**6))
        assert ended.stdout.encode() == text

    async def test_a_program_that_never_reads_does_not_hang_it(self) -> None:
        ended = await sh("echo done", stdin=b"x" * 10**6)
        assert (ended.stdout, ended.exit_code) == ("done\n", 0)

    async def test_a_program_that_closes_its_streams_goes_on(self) -> None:
        ended = await sh("exec 0<&- 1>&- 2>&-; sleep 0.05; exit 4", stdin=b"x" * 10**6)
        assert ended.exit_code == 4
        assert ended.seconds >= 0.05

    async def test_without_input_its_end_is_read_at_once(self) -> None:
        assert (await sh("cat; echo end")).stdout == "end\n"

    async def test_fifty_megabytes_end_by_themselves(self) -> None:
        ended = await sh("head -c 50000000 /dev/zero; echo end >&2; exit 5", Limits(seconds=20, output_bytes=1000))
        assert (ended.exit_code, ended.stderr, ended.timed_out) == (5, "end\n", False)
        assert ended.truncated
        assert "… 49,999,000 bytes left out …" in ended.stdout

    async def test_an_endless_flood_ends_by_the_wall_clock(self) -> None:
        ended = await sh("yes", Limits(seconds=0.3))
        assert ended.timed_out
        assert ended.seconds < 1.3
        assert ended.stdout.startswith("y\ny\n")

    async def test_a_flood_can_be_ended_sooner(self) -> None:
        ended = await sh("yes", flood_bytes=10**6)
        assert ended.flooded
        assert not ended.timed_out
        assert ended.seconds < 10

    async def test_a_report_has_a_pipe_of_its_own(self) -> None:
        before = open_fds()
        report = os.pipe()
        ended = await sh(f"echo told >/dev/fd/{report[1]}; echo out", report=report)
        assert (ended.report, ended.stdout) == (b"told\n", "out\n")
        assert open_fds() == before

    async def test_a_daemon_that_holds_the_pipe_delays_nothing(self) -> None:
        before = open_fds()
        began = time.monotonic()
        ended = await sh("setsid sleep 60 & echo $!")
        assert time.monotonic() - began < 5
        assert open_fds() == before
        os.kill(int(ended.stdout), signal.SIGKILL)


class TestKilling:
    async def test_a_supervisor_is_asked_first(self) -> None:
        ended = await sh(
            "trap 'echo ended; exit 9' TERM; while :; do sleep 0.01; done",
            Limits(seconds=0.2),
            kill=terminate,
        )
        assert (ended.stdout, ended.exit_code, ended.timed_out) == ("ended\n", 9, True)

    async def test_one_that_does_not_listen_is_killed(self) -> None:
        ended = await sh("trap '' TERM; while :; do sleep 0.01; done", Limits(seconds=0.1), kill=terminate)
        assert ended.signal == signal.SIGKILL
        assert ended.seconds < 2

    @pytest.mark.parametrize("times", [1, 3])
    async def test_cancellation_ends_it_first(self, tmp_path: Path, times: int) -> None:
        before = open_fds()
        os.mkfifo(tmp_path / "up")
        fifo = os.open(tmp_path / "up", os.O_RDONLY | os.O_NONBLOCK)
        ready = asyncio.Event()
        asyncio.get_running_loop().add_reader(fifo, ready.set)
        task = asyncio.create_task(sh(f"trap '' TERM; echo $$ >{tmp_path}/up; sleep 60; sleep 60", kill=terminate))
        await ready.wait()
        asyncio.get_running_loop().remove_reader(fifo)
        pid = int(os.read(fifo, 100))
        os.close(fifo)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert reaped(pid)
        assert open_fds() == before

    @pytest.mark.parametrize(
        ("argv", "options"),
        [
            (["/nonexistent/thing"], {}),
            (["/bin/sh"], {"cwd": Path("/nonexistent")}),
            (["/bin/sh", "nul \0"], {}),
            (["/etc/passwd"], {}),
        ],
    )
    async def test_what_cannot_be_started_is_said(self, argv: list[str], options: dict[str, Any]) -> None:
        before = open_fds()
        with pytest.raises(SandboxError, match="cannot be started"):
            await run_process(argv, env={}, limits=LONG, stdin=b"x", report=os.pipe(), **options)
        assert open_fds() == before


async def test_memory_is_measured_above_the_own_peak() -> None:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert (await sh(":")).peak_memory is None
    size = own + 64 * 2**20
    ended = await run_process([sys.executable, "-ISc", f"b'x' * {size}"], env={}, limits=LONG)
    assert ended.peak_memory is not None
    assert size <= ended.peak_memory < size + 64 * 2**20


async def test_a_wait_for_any_child_elsewhere_takes_the_exit_code_but_hangs_nothing() -> None:
    old = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        ended = await sh("exit 3")
    finally:
        signal.signal(signal.SIGCHLD, old)
    assert (ended.exit_code, ended.signal, ended.timed_out) == (None, None, False)


def test_the_environment_of_work_holds_no_more_than_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "secret")
    env = env_for(Surroundings(env={"MINE": "1", "LANG": "C"}), home="/home", path="/bin", tmp="/tmp")
    assert env == {
        "PATH": "/bin",
        "HOME": "/home",
        "TMPDIR": "/tmp",
        "LANG": "C",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MINE": "1",
    }
