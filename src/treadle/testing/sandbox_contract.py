# ruff: noqa: D102 - the names of the tests say what they ask for
"""The contract of a sandbox as a test suite; subclass it to test a sandbox of your own (with pytest-asyncio).

    class TestMySandbox(SandboxContract):
        @pytest.fixture
        async def sandbox(self):
            sandbox = MySandbox()
            yield sandbox
            await sandbox.aclose()

What a sandbox's traits say that it cannot do is not asked of it, but that it refuses it.
"""

from __future__ import annotations

import asyncio
import random
import signal
import socket
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from treadle.sandbox.base import MIB, Command, ExecResult, Limits, Program, Sandbox
from treadle.testing.sandbox_contract_folders import FoldersContract

PATIENT = Limits(seconds=30)
SHORT = Limits(seconds=0.7)

ENDLESS = {
    "sleep": "import time; time.sleep(600)",
    "busy loop": "print('so far', flush=True)\nwhile True: pass",
    "huge integer": "10 ** 10 ** 8",
    "regular expression": "import re; re.match('(a+)+b', 'a' * 60)",
    "ignored signals": "import signal, time\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(600)",
}
GREEDY = {
    "at once": "x = b'x' * 2 ** 30",
    "little by little": "x = []\nwhile True: x.append(b'x' * 2 ** 20)",
}
LEAVES_TRACES = """
import json, os, sys, tempfile
for folder in (".", os.path.expanduser("~"), tempfile.gettempdir()):
    try:
        open(os.path.join(folder, "trace"), "x").close()
    except OSError as error:
        print("found", folder, error)
print("trace" in os.environ, hasattr(json, "trace"))
os.environ["trace"] = json.trace = "left"
"""
LOOKS_FOR_KEYS = """
import glob, os
print(dict(os.environ))
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        print(open(path, "rb").read())
    except OSError:
        pass
"""
DETACHES = "import subprocess; subprocess.Popen(['sleep', '{}'], start_new_session=True)"


class SandboxContract(FoldersContract):
    """What every `treadle.sandbox.base.Sandbox` keeps to; a subclass overrides the ``sandbox`` fixture."""

    @pytest.fixture
    def sandbox(self) -> Any:
        """A sandbox, closed after the test."""
        raise NotImplementedError("override the sandbox fixture")

    async def test_a_program_ends_well(self, sandbox: Sandbox) -> None:
        result = await run(sandbox, "if __name__ == '__main__': print('é', 2 + 2)")
        assert (result.status, result.stdout, result.stderr) == ("ok", "é 4\n", "")
        assert (result.exit_code, result.signal, result.truncated, result.reason) == (0, None, False, "")
        assert 0 < result.seconds < 30
        assert result.peak_memory is None or result.peak_memory > 0

    @pytest.mark.parametrize(
        ("source", "code", "said"),
        [
            ("import sys; sys.exit(3)", 3, ""),
            ("raise SystemExit('why')", 1, "why"),
            ("1 / 0", 1, "ZeroDivisionError"),
            ("def f(:", 1, "SyntaxError"),
            ("x = '\ud800'", 1, "SyntaxError"),
            ("x = " + "(" * 150, 1, "Error"),
            ("def f(): f()\nf()", 1, "RecursionError"),
        ],
    )
    async def test_a_program_fails(self, sandbox: Sandbox, source: str, code: int, said: str) -> None:
        result = await run(sandbox, source)
        assert (result.status, result.exit_code, result.signal) == ("failed", code, None)
        assert said in result.stderr

    async def test_a_null_byte_is_a_typed_end(self, sandbox: Sandbox) -> None:
        """What it is differs between versions of Python."""
        assert (await run(sandbox, "print('a')\0")).status in {"ok", "failed"}

    async def test_an_empty_program_is_one(self, sandbox: Sandbox) -> None:
        assert (await run(sandbox, "")).status == "ok"

    async def test_output_that_is_no_utf_8_or_comes_in_pieces(self, sandbox: Sandbox) -> None:
        split = r"import os; [os.write(1, bytes([byte])) for byte in '漢é'.encode()]; os.write(1, b'\xff!')"
        assert (await run(sandbox, split)).stdout == "漢é\ufffd!"

    async def test_fifty_megabytes_of_output_take_little_memory(self, sandbox: Sandbox) -> None:
        flood = "import sys\nfor _ in range(50): sys.stdout.write('a' * 10 ** 6)\nprint('end')"
        tracemalloc.start()
        result = await run(sandbox, flood, Limits(seconds=30, output_bytes=1000))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert result.truncated
        assert result.stdout.startswith("a" * 490)
        assert len(result.stdout) < 1100
        assert peak < 32 * MIB
        if sandbox.traits.processes:
            assert result.stdout.endswith(f"\n… 49,999,004 bytes left out …\n{'a' * 496}end\n")

    async def test_a_program_may_close_its_output(self, sandbox: Sandbox) -> None:
        assert (await run(sandbox, "import os, sys; os.close(1); os.close(2); sys.exit(5)")).exit_code == 5

    async def test_input_ends_where_none_is_given(self, sandbox: Sandbox) -> None:
        result = await run(sandbox, "import sys; print(repr(sys.stdin.read())); input()")
        assert (result.status, result.stdout) == ("failed", "''\n")
        assert "EOFError" in result.stderr

    async def test_input_is_read_or_not(self, sandbox: Sandbox) -> None:
        text = "wörter\n" * 100_000
        read = await run(sandbox, "import sys; print(len(sys.stdin.read()))", stdin=text.encode())
        assert (read.status, read.stdout) == ("ok", "700000\n")
        assert (await run(sandbox, "print('unread')", stdin=text.encode())).stdout == "unread\n"

    async def test_files_lie_in_the_work_folder(self, sandbox: Sandbox) -> None:
        source = "import mine; print(mine.x, open('deep/er/b.bin', 'rb').read())"
        result = await run(sandbox, source, files={"mine.py": b"x = 7", "deep/er/b.bin": b"\0\xff"})
        assert (result.stdout, result.stderr) == ("7 b'\\x00\\xff'\n", "")

    @pytest.mark.parametrize("path", ["../x", "/tmp/x", "a/../../x", "a\0b", "", "..", "\ud800"])
    async def test_a_file_that_leaves_the_work_folder_is_refused(self, sandbox: Sandbox, path: str) -> None:
        result = await run(sandbox, "print('never')", files={path: b""})
        assert (result.status, result.stdout) == ("refused", "")
        assert result.reason

    @pytest.mark.parametrize("how", ENDLESS)
    async def test_what_never_ends_is_ended_and_the_next_is_unaffected(self, sandbox: Sandbox, how: str) -> None:
        result = await run(sandbox, ENDLESS[how], SHORT)
        assert (result.status, result.stdout) == ("timed_out", "so far\n" if how == "busy loop" else "")
        assert result.reason
        assert result.seconds < SHORT.seconds + 1
        await alright(sandbox)

    @pytest.mark.parametrize("how", GREEDY)
    async def test_memory_has_a_limit(self, sandbox: Sandbox, how: str) -> None:
        result = await run(sandbox, GREEDY[how], Limits(seconds=30, memory=256 * MIB))
        assert (result.status, bool(result.reason)) == ("out_of_memory", True)
        await alright(sandbox)

    async def test_cpu_time_has_a_limit(self, sandbox: Sandbox) -> None:
        if sandbox.traits.processes:
            result = await run(sandbox, "while True: pass", Limits(seconds=30, cpu_seconds=1))
            assert (result.status, result.seconds < 10) == ("timed_out", True)

    async def test_a_file_has_a_largest_size(self, sandbox: Sandbox) -> None:
        source = "with open('big', 'wb') as f:\n    for _ in range(32): f.write(b'x' * 2 ** 20)"
        result = await run(sandbox, source, Limits(seconds=30, file_bytes=4 * MIB))
        assert result.status == "failed"
        await alright(sandbox)

    @pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL"])
    async def test_a_signal_is_a_crash(self, sandbox: Sandbox, name: str) -> None:
        if sandbox.traits.processes:
            result = await run(sandbox, f"import os, signal; os.kill(os.getpid(), signal.{name})")
            assert (result.status, result.exit_code, result.signal) == ("crashed", None, signal.Signals[name])
            assert name in result.reason

    async def test_a_daemon_does_not_stay(self, sandbox: Sandbox) -> None:
        if sandbox.traits.processes:
            result = await run(sandbox, DETACHES.format(seconds := marked_sleep()))
            assert (result.status, result.seconds < 10) == ("ok", True)
            assert not sleeping(seconds)

    async def test_a_daemon_that_holds_the_output_ends_at_the_limit(self, sandbox: Sandbox) -> None:
        if sandbox.traits.processes:
            seconds = marked_sleep()
            result = await run(sandbox, DETACHES.format(seconds) + "\nwhile True: pass", SHORT)
            assert (result.status, result.seconds < SHORT.seconds + 1) == ("timed_out", True)
            assert not sleeping(seconds)

    async def test_programs_share_nothing(self, sandbox: Sandbox) -> None:
        for _ in range(3):
            assert (await run(sandbox, LEAVES_TRACES)).stdout == "False False\n"

    async def test_many_run_at_once(self, sandbox: Sandbox) -> None:
        results = await asyncio.gather(*(run(sandbox, f"print({i})") for i in range(12)))
        assert [result.stdout for result in results] == [f"{i}\n" for i in range(12)]

    async def test_no_key_of_this_process_is_seen(self, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> None:
        monkeypatch.setenv("PLANTED_API_KEY", "planted-secret")
        source = LOOKS_FOR_KEYS if sandbox.traits.isolated else "import os; print(dict(os.environ))"
        result = await run(sandbox, source)
        assert result.status == "ok"
        assert "planted" not in result.stdout

    async def test_files_of_this_machine_are_out_of_reach(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.isolated:
            canary = tmp_path / "canary"
            canary.write_text("untouched")
            for mode in ("r", "w", "a"):
                assert (await run(sandbox, f"open({str(canary)!r}, {mode!r}).read()")).status == "failed"
            assert canary.read_text() == "untouched"

    async def test_the_network_is_out_of_reach(self, sandbox: Sandbox) -> None:
        if sandbox.traits.isolated:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                listener.setblocking(False)
                address = listener.getsockname()
                result = await run(sandbox, f"import socket; socket.create_connection({address!r}, 1)")
                assert result.status == "failed"
                with pytest.raises(BlockingIOError):
                    listener.accept()

    async def test_commands_run_or_are_refused(self, sandbox: Sandbox) -> None:
        result = await sandbox.execute(Command(("sh", "-c", "cat; exit 3")), stdin=b"in")
        if sandbox.traits.commands:
            assert (result.status, result.stdout, result.exit_code) == ("failed", "in", 3)
            assert (await sandbox.execute(Command(("no-such-thing",)))).status in ("failed", "refused")
        else:
            assert (result.status, bool(result.reason)) == ("refused", True)

    @pytest.mark.parametrize("argv", [(), ("",), ("echo", "a\0b")])
    async def test_what_is_no_command_is_refused(self, sandbox: Sandbox, argv: tuple[str, ...]) -> None:
        result = await sandbox.execute(Command(argv))
        assert (result.status, bool(result.reason)) == ("refused", True)

    async def test_a_cancelled_call_ends_the_work_first(self, sandbox: Sandbox) -> None:
        seconds = marked_sleep()
        starts = f"import subprocess; subprocess.run(['sleep', '{seconds}'])"
        source = starts if sandbox.traits.processes else ENDLESS["busy loop"]
        task = asyncio.create_task(run(sandbox, source))
        async with asyncio.timeout(20):
            await asyncio.sleep(0)
            while sandbox.traits.processes and not sleeping(seconds):  # noqa: ASYNC110 - only /proc tells
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert not sleeping(seconds)
        await alright(sandbox)

    async def test_closing_twice_is_no_mistake(self, sandbox: Sandbox) -> None:
        await alright(sandbox)
        await sandbox.aclose()
        await sandbox.aclose()


async def run(sandbox: Sandbox, source: str, limits: Limits = PATIENT, **given: Any) -> ExecResult:
    """Run a program."""
    return await sandbox.execute(Program(source), limits=limits, **given)


async def alright(sandbox: Sandbox) -> None:
    """The sandbox runs programs still."""
    result = await run(sandbox, "print('alright')")
    assert (result.status, result.stdout) == ("ok", "alright\n")


def marked_sleep() -> str:
    """Seconds to sleep that nobody else on this machine sleeps."""
    return f"{random.uniform(300, 900):.9f}"


def sleeping(seconds: str) -> bool:
    """Whether a process of this machine that sleeps so long can be seen (through ``/proc``)."""
    return any(seconds.encode() in command for command in map(_command_line, Path("/proc").glob("[0-9]*/cmdline")))


def _command_line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
