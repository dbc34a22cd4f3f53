"""Without protection: limits and a clean end all the same."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from treadle.sandbox.base import MIB, Command, Limits, Program, Surroundings
from treadle.sandbox.unprotected import Unprotected
from treadle.sandbox.workfolder import remove_folder
from treadle.testing.sandbox_contract import SandboxContract, marked_sleep, sleeping

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there a supervisor gets the orphans")

KILLS_ITS_SUPERVISOR = """
import os, subprocess, sys
subprocess.Popen(["sleep", sys.stdin.read()], start_new_session=True)
os.kill(os.getppid(), 9)
"""
THREE_TOGETHER = """
import subprocess, sys
three = [subprocess.Popen([sys.executable, "-ISc", "x = b'x' * (100 << 20); input()"], stdin=subprocess.PIPE)
         for _ in range(3)]
for one in three: one.wait()
"""


class TestUnprotected(SandboxContract):
    @pytest.fixture
    async def sandbox(self) -> AsyncGenerator[Unprotected]:
        sandbox = Unprotected()
        yield sandbox
        await sandbox.aclose()


async def test_it_says_that_it_isolates_nothing() -> None:
    sandbox = Unprotected()
    assert sandbox.name == "none"
    assert not sandbox.traits.isolated
    assert sandbox.identity.startswith("none, ")


async def test_its_folders_are_private_and_gone_afterwards() -> None:
    source = "import os; print(os.getcwd(), os.environ['HOME'], os.environ['TMPDIR']); os.makedirs('a/b/c')"
    result = await Unprotected().execute(Program(source))
    folders = [Path(folder) for folder in result.stdout.split()]
    assert len(set(folders)) == 3
    assert not any(map(os.path.exists, [*folders, folders[0].parent]))


async def test_a_given_folder_gets_no_file_that_was_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("x = 'mine'")
    result = await Unprotected().execute(
        Program("import program; print(program.x)"), surroundings=Surroundings(tmp_path), files={"new": b""}
    )
    assert result.stdout == "mine\n"
    assert {entry.name for entry in os.scandir(tmp_path)} == {"new", "program.py"}


async def test_what_outlives_its_supervisor_is_found() -> None:
    seconds = marked_sleep()
    result = await Unprotected().execute(Program(KILLS_ITS_SUPERVISOR), stdin=seconds.encode())
    assert result.status == "crashed"
    assert not sleeping(seconds)


async def test_memory_is_that_of_all_processes_together() -> None:
    result = await Unprotected().execute(Program(THREE_TOGETHER), limits=Limits(memory=200 * MIB))
    assert result.status == "out_of_memory"


async def test_too_many_processes_end_the_work() -> None:
    source = "import subprocess, time\nfor _ in range(12): subprocess.Popen(['sleep', '60'])\ntime.sleep(60)"
    result = await Unprotected().execute(Program(source), limits=Limits(processes=8))
    assert result.status == "failed"
    assert "8 processes" in result.reason


class TestWithoutASupervisor:
    """As on systems that give a process no orphans."""

    async def test_programs_and_commands_run(self) -> None:
        sandbox = Unprotected(supervised=False)
        result = await sandbox.execute(Program("import sys; print(input()); sys.exit(3)"), stdin=b"in")
        assert (result.status, result.stdout, result.exit_code) == ("failed", "in\n", 3)
        assert (await sandbox.execute(Command(("true",)))).status == "ok"

    async def test_the_wall_clock_and_the_cpu_have_limits(self) -> None:
        sandbox = Unprotected(supervised=False)
        seconds = marked_sleep()
        asleep, busy = await asyncio.gather(
            sandbox.execute(Command(("sh", "-c", f"sleep {seconds} & wait")), limits=Limits(seconds=0.4)),
            sandbox.execute(Program("while True: pass"), limits=Limits(cpu_seconds=1)),
        )
        assert (asleep.status, busy.status) == ("timed_out", "timed_out")
        assert not sleeping(seconds)

    async def test_a_crash_is_one(self) -> None:
        result = await Unprotected(supervised=False).execute(Program("import os; os.abort()"))
        assert (result.status, result.signal) == ("crashed", 6)


def test_a_folder_is_removed_however_deep_and_closed_it_is(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    (outside / "kept").touch()
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "closed").mkdir(mode=0)
    at = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("deep", dir_fd=at)
        below = os.open("deep", os.O_RDONLY, dir_fd=at)
        os.symlink(outside, "link", dir_fd=below)
        os.close(at)
        at = below
    os.close(at)
    remove_folder(folder)
    assert not folder.exists()
    assert (outside / "kept").exists()
