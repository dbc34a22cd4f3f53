"""The sandboxes that Linux itself makes: the whole contract, warm cells, and the folders of this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from treadle.errors import SandboxError
from treadle.sandbox.base import MIB, Command, Limits, Program, Sandbox, Surroundings
from treadle.sandbox.bubblewrap import Bubblewrap
from treadle.sandbox.choose import open_sandbox
from treadle.sandbox.landlock import Landlock
from treadle.sandbox.linux import LinuxSandbox
from treadle.sandbox.namespaces import Namespaces
from treadle.testing.sandbox_contract import SandboxContract

KINDS: dict[str, type[LinuxSandbox]] = {"bubblewrap": Bubblewrap, "namespaces": Namespaces, "landlock": Landlock}
WARM = ("bubblewrap", "namespaces")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these sandboxes are Linux's")


def _works_here(kind: str) -> bool:
    """Landlock has no box, so root's work, which is another user's, needs an interpreter that everybody may read."""
    return kind != "landlock" or os.geteuid() != 0 or _open_to_all(Path(sys.executable).resolve())


def _open_to_all(path: Path) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in path.parents)


@pytest.fixture(params=[kind for kind in KINDS if _works_here(kind)])
async def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def box(kind: str) -> AsyncGenerator[LinuxSandbox]:
    sandbox = KINDS[kind](width=2)
    yield sandbox
    await sandbox.aclose()


class TestBubblewrap(SandboxContract):
    @pytest.fixture
    async def sandbox(self) -> AsyncGenerator[Sandbox]:
        sandbox = Bubblewrap()
        yield sandbox
        await sandbox.aclose()


class TestNamespaces(SandboxContract):
    @pytest.fixture
    async def sandbox(self) -> AsyncGenerator[Sandbox]:
        sandbox = Namespaces()
        yield sandbox
        await sandbox.aclose()


if _works_here("landlock"):

    class TestLandlock(SandboxContract):
        @pytest.fixture
        async def sandbox(self) -> AsyncGenerator[Sandbox]:
            sandbox = Landlock()
            yield sandbox
            await sandbox.aclose()


async def test_the_strongest_that_proves_itself_is_chosen() -> None:
    sandbox = await open_sandbox()
    assert sandbox.name == "bubblewrap"
    assert sandbox.traits.isolated
    await sandbox.aclose()


async def test_what_proves_nothing_is_refused_with_every_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for kind in KINDS.values():
        monkeypatch.setattr(kind, "execute", _reads_everything)
    openers = {"bubblewrap": Bubblewrap, "namespaces": Namespaces, "wasi": _missing}
    monkeypatch.setattr("treadle.sandbox.choose.OPENERS", openers)
    with pytest.raises(SandboxError) as refusal:
        await open_sandbox()
    told = str(refusal.value)
    assert "bubblewrap: bubblewrap is not installed" in told
    assert "namespaces: it does not isolate here" in told
    assert "--sandbox none" in told


async def _reads_everything(self: LinuxSandbox, work: Program, **_: object) -> object:
    from treadle.sandbox.unprotected import Unprotected

    return await Unprotected().execute(work)


def _missing() -> Sandbox:
    raise SandboxError("it is not installed")


async def test_work_has_a_user_of_its_own(box: LinuxSandbox) -> None:
    result = await box.execute(Program("import os; print(os.getuid(), os.geteuid(), os.getgroups())"))
    user, effective, _ = result.stdout.split(maxsplit=2)
    assert user == effective
    assert (int(user) > 1000) or os.geteuid() != 0


async def test_the_environment_is_an_allow_list(box: LinuxSandbox) -> None:
    result = await box.execute(Command(("env",)), surroundings=Surroundings(env={"GIVEN": "1"}))
    names = {line.partition("=")[0] for line in result.stdout.splitlines()}
    assert "GIVEN" in names
    allowed = {"PATH", "HOME", "TMPDIR", "LANG", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "GIT_CONFIG_NOSYSTEM"}
    assert names <= {*allowed, "GIVEN"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that other users may enter."""
    for each in (tmp_path, *tmp_path.parents[:2]):
        each.chmod(0o755)
    return tmp_path


async def test_files_written_in_a_folder_belong_to_its_owner(box: LinuxSandbox, folder: Path) -> None:
    (folder / "there").write_text("before")
    script = "cat there; echo after > there; mkdir new; echo deep > new/file; ln -s there link"
    result = await box.execute(Command(("sh", "-c", script)), surroundings=Surroundings(folder=folder))
    assert (result.status, result.stdout, result.stderr) == ("ok", "before", "")
    made = [folder / "there", folder / "new", folder / "new" / "file"]
    assert {path.stat().st_uid for path in made} == {os.geteuid()}
    assert (folder / "new" / "file").read_text() == "deep\n"


async def test_a_program_in_a_folder_of_somebody_leaves_no_file_there(box: LinuxSandbox, folder: Path) -> None:
    (folder / "mine.py").write_text("VALUE = 3\n")
    surroundings = Surroundings(folder=folder, writable=False)
    result = await box.execute(Program("import mine; print(mine.VALUE)"), surroundings=surroundings)
    assert (result.stdout, result.stderr) == ("3\n", "")
    assert os.listdir(folder) == ["mine.py"]  # noqa: PTH208


async def test_git_works_in_a_folder(box: LinuxSandbox, folder: Path) -> None:
    script = (
        "git init -q . && echo text > file && git add . && "
        "git -c user.name=a -c user.email=a@b commit -qm first && git log --format=%s"
    )
    result = await box.execute(Command(("sh", "-c", script)), surroundings=Surroundings(folder=folder))
    assert result.stdout == "first\n", result.stderr


async def test_packages_of_this_interpreter_can_be_used(box: LinuxSandbox) -> None:
    result = await box.execute(Program("import numpy; print(int(numpy.arange(4).sum()))"), limits=Limits(seconds=60))
    assert result.stdout == "6\n", result.stderr


async def test_threads_and_children_of_a_program_work(box: LinuxSandbox) -> None:
    source = """
import subprocess, sys, threading
seen = []
thread = threading.Thread(target=seen.append, args=(1,))
thread.start(); thread.join()
print(seen, subprocess.run([sys.executable, "-c", "print(2)"], capture_output=True, text=True).stdout)
"""
    result = await box.execute(Program(source), limits=Limits(seconds=30))
    assert result.stdout == "[1] 2\n\n", result.stderr


async def test_a_program_ends_as_an_interpreter_does(box: LinuxSandbox) -> None:
    source = """
import atexit, threading
atexit.register(print, "exit function")
threading.Timer(0.05, print, ("last thread",)).start()
print("main")
"""
    result = await box.execute(Program(source), limits=Limits(seconds=30))
    assert result.stdout == "main\nlast thread\nexit function\n"


async def test_a_traceback_shows_the_program_alone(box: LinuxSandbox) -> None:
    result = await box.execute(Program("def f():\n    return 1 / 0\nf()\n"))
    assert result.stderr.count("File ") == 2
    assert "return 1 / 0" in result.stderr
    assert "cell.py" not in result.stderr


async def test_names_like_ours_are_the_programs_own(box: LinuxSandbox) -> None:
    files = {"kernel.py": b"VALUE = 'mine'\n", "limits.py": b"VALUE = 'mine too'\n"}
    result = await box.execute(Program("import kernel, limits; print(kernel.VALUE, limits.VALUE)"), files=files)
    assert result.stdout == "mine mine too\n", result.stderr


async def test_memory_that_processes_take_together_is_counted(box: LinuxSandbox) -> None:
    source = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        held = bytearray(b"x" * (60 << 20))
        time.sleep(20)
        os._exit(0)
time.sleep(20)
"""
    result = await box.execute(Program(source), limits=Limits(seconds=15, memory=128 * MIB))
    assert result.status == "out_of_memory"
    assert result.seconds < 10


async def test_private_folders_have_a_size(box: LinuxSandbox) -> None:
    source = "for n in range(64): open(f'f{n}', 'wb').write(b'x' * (1 << 20))\nimport time; time.sleep(0.2)"
    result = await box.execute(Program(source), limits=Limits(seconds=15, file_bytes=8 * MIB))
    assert result.status == "failed"


async def test_sandboxes_in_a_thread_of_their_own() -> None:
    async def once() -> str:
        sandbox = Bubblewrap(width=1)
        result = await sandbox.execute(Program("print('there')"))
        await sandbox.aclose()
        return result.stdout

    assert await asyncio.to_thread(asyncio.run, once()) == "there\n"


@pytest.mark.parametrize("kind", WARM)
async def test_a_box_that_dies_is_replaced(kind: str) -> None:
    sandbox = KINDS[kind](width=1)
    assert (await sandbox.execute(Program("print(1)"))).stdout == "1\n"
    for process in _children(os.getpid()):
        os.kill(process, signal.SIGKILL)
    results = [await sandbox.execute(Program("print(2)")) for _ in range(2)]
    assert results[-1].stdout == "2\n"
    await sandbox.aclose()
    assert not _children(os.getpid())


@pytest.mark.parametrize("kind", WARM)
async def test_more_programs_than_cells_take_turns(kind: str) -> None:
    sandbox = KINDS[kind](width=2)
    results = await asyncio.gather(*(sandbox.execute(Program(f"print({n})")) for n in range(20)))
    assert [int(result.stdout) for result in results] == list(range(20))
    assert len(_children(os.getpid())) <= 2
    await sandbox.aclose()


def _children(parent: int) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, owner = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(owner) == parent and state != "Z":
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    ("surroundings", "words"),
    [
        (Surroundings(folder=Path("/nowhere")), "is no folder"),
        (Surroundings(folder=Path("relative")), "not named from the root"),
        (Surroundings(readable=(Path("/nowhere"),)), "does not exist"),
        (Surroundings(env={"A": "b\0c"}), "NUL"),
        (Surroundings(env={"A=B": "c"}), "equals sign"),
    ],
)
async def test_surroundings_that_cannot_be_are_refused(
    box: LinuxSandbox, surroundings: Surroundings, words: str
) -> None:
    result = await box.execute(Program("print(1)"), surroundings=surroundings)
    assert result.status == "refused"
    assert words in result.reason
