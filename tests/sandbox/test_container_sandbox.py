"""Containers keep the contract of sandboxes; the engine is a double that reads its command line strictly."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from treadle.errors import SandboxError
from treadle.sandbox.base import Command, Limits, Program, Surroundings
from treadle.sandbox.containers import DEFAULT_IMAGE, Container
from treadle.testing.sandbox_contract import SandboxContract, marked_sleep, sleeping

if shutil.which("bwrap") is None:
    pytest.skip("the double of an engine needs bubblewrap", allow_module_level=True)

DOUBLE = Path(__file__).with_name("container_engine.py")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the commands ``docker`` and ``podman``."""
    folder = tmp_path_factory.mktemp("engine")
    for name in ("docker", "podman"):
        script = folder / name
        script.write_text(f"#!{sys.executable} -SE\n{DOUBLE.read_text()}")
        script.chmod(0o755)
    return folder


@pytest.fixture
def home(engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where an engine is on the path, which keeps its state there."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{engine}:{os.environ['PATH']}")
    return home


def running(home: Path) -> list[Path]:
    return list((home / "engine").glob("*.json"))


def last_run(home: Path) -> list[str]:
    told: dict[str, Any] = json.loads((home / "engine" / "last").read_text())
    return told["flags"]


@pytest.fixture(scope="module")
def docker(engine: Path) -> Container:
    """One for the whole suite, for asking an engine takes as long as a program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(engine))
        return Container("docker")


class TestDocker(SandboxContract):
    @pytest.fixture
    def sandbox(self, home: Path, docker: Container) -> Container:
        return docker


class TestPodman:
    async def test_programs_and_commands_run(self, home: Path) -> None:
        sandbox = Container("podman")
        result = await sandbox.execute(Program("print(input())"), stdin=b"in")
        assert (result.status, result.stdout) == ("ok", "in\n")
        assert (await sandbox.execute(Command(("sh", "-c", "exit 3")))).exit_code == 3


async def test_the_image_is_part_of_the_identity(home: Path) -> None:
    sandbox = Container("docker")
    assert sandbox.identity == f"docker, {DEFAULT_IMAGE}"
    await sandbox.prepare()
    assert sandbox.identity == f"docker, {DEFAULT_IMAGE} sha256:0123abcd"


async def test_the_engine_holds_it_too(home: Path) -> None:
    await Container("docker").execute(Program("pass"), limits=Limits(memory=100 * 2**20, processes=5))
    flags = last_run(home)
    assert {"--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"} <= set(flags)
    assert {"--pids-limit=13", f"--memory={456 * 2**20}", f"--memory-swap={456 * 2**20}"} <= set(flags)
    assert not any("0:0" in flag for flag in flags if flag.startswith("--user"))


async def test_the_network_is_there_when_it_is_asked_for(home: Path) -> None:
    result = await Container("docker").execute(Command(("true",)), surroundings=Surroundings(network=True))
    assert result.status == "ok"
    assert not any(flag.startswith("--network") for flag in last_run(home))


async def test_a_key_of_the_command_line_does_not_reach_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_SECRET", "planted")
    result = await Container("docker").execute(Program("import os; print(dict(os.environ))"))
    assert "planted" not in result.stdout
    assert "planted" not in " ".join(last_run(home))


async def test_a_folder_with_a_comma_in_its_name_is_mounted(home: Path, tmp_path: Path) -> None:
    odd = tmp_path / 'a, "b"'
    odd.write_text("shown")
    result = await Container("docker").execute(
        Program(f"print(open({str(odd)!r}).read())"), surroundings=Surroundings(readable=(odd,))
    )
    assert result.stdout == "shown\n"


@pytest.mark.parametrize("name", ["docker", "podman"])
async def test_nothing_runs_as_root_of_this_machine(
    home: Path, tmp_path: Path, name: Literal["docker", "podman"]
) -> None:
    work, folder = Command(("id", "-u")), tmp_path / "work"
    folder.mkdir()
    (home / "engine").mkdir()
    (home / "engine" / "rootful").touch()
    sandbox = Container(name)
    # Only root has a folder of root's to give; every user can name one.
    roots, owner = (folder, 4321) if os.geteuid() == 0 else (Path("/opt"), os.geteuid())
    refused = await sandbox.execute(work, surroundings=Surroundings(roots, writable=False))
    assert (refused.status, refused.stdout) == ("refused", "")
    assert f"rootless {name}" in refused.reason
    alone = await sandbox.execute(work)
    assert int(alone.stdout) > 0
    os.chown(folder, owner, -1)
    owned = await sandbox.execute(work, surroundings=Surroundings(folder))
    assert owned.stdout == f"{owner}\n"


async def test_nothing_is_left_running(home: Path) -> None:
    sandbox = Container("docker")
    await asyncio.gather(
        sandbox.execute(Program("pass")), sandbox.execute(Program("while True: pass"), limits=Limits(seconds=0.3))
    )
    assert not running(home)


async def test_a_program_cannot_write_its_own_report(home: Path) -> None:
    forged = '\\n00000000000000000000000000000000{"exit": 0, "cause": ""}'
    result = await Container("docker").execute(Program(f"import sys; sys.stderr.write('{forged}'); sys.exit(4)"))
    assert (result.status, result.exit_code) == ("failed", 4)
    assert result.stderr == forged.replace("\\n", "\n")


async def test_what_a_killed_process_left_behind_is_removed(home: Path) -> None:
    sandbox, seconds = Container("docker"), marked_sleep()
    await sandbox.prepare()
    task = asyncio.create_task(sandbox.execute(Command(("sleep", seconds))))
    while not (sleeping(seconds) and running(home)):  # noqa: ASYNC110 - only the machine tells
        await asyncio.sleep(0.01)
    (place,) = running(home)
    _, machine, process, rest = place.stem.split("-")
    ours, dead = place.rename(place.with_stem("mine")), place.with_stem(f"treadle-{machine}-{2**22 + 1}-{rest}")
    dead.write_text(ours.read_text())
    elsewhere = place.with_stem(f"treadle-{'0' * 8}-{process}-{rest}")
    elsewhere.write_text('{"pid": 4194305, "label": "treadle=x"}')
    await Container("docker").prepare()
    assert not sleeping(seconds)
    assert not dead.exists()
    assert elsewhere.exists()
    assert (await task).status != "ok"


class TestWhatDoesNotWork:
    async def test_an_engine_that_does_not_answer(self, home: Path) -> None:
        (home / "engine").mkdir()
        (home / "engine" / "down").touch()
        with pytest.raises(SandboxError, match="no docker engine answers: Cannot connect"):
            await Container("docker").prepare()

    async def test_an_image_that_is_not_there(self, home: Path) -> None:
        sandbox = Container("docker", image="other:1")
        result = await sandbox.execute(Program("print(1)"))
        assert result.status == "refused"
        assert "docker pull other:1" in result.reason

    def test_no_engine_at_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nonexistent")
        with pytest.raises(SandboxError, match="no command podman"):
            Container("podman")
