# ruff: noqa: D102 - the names of the tests say what they ask for
"""What a sandbox that takes folders of this machine keeps to; part of `treadle.testing.sandbox_contract`."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from treadle.sandbox.base import MIB, Command, ExecResult, Limits, Program, Sandbox, Surroundings

ROOMY = Limits(seconds=60, memory=2048 * MIB, processes=256, file_bytes=1024 * MIB, open_files=1024)
COMMITS = """
git init -q . && git config user.name a && git config user.email a@example.org &&
git add -A && git commit -q -m first && echo more >> a && git commit -q -a -m second && git log --format=%s
"""
LEAVES_ODD_FILES = """
mkdir -p closed/deeper && echo x > closed/deeper/file && chmod 000 closed/deeper/file closed/deeper closed
echo x > setuid && chmod 4755 setuid; mkfifo pipe; ln -s /etc/passwd out; ln -s nowhere broken; chmod 000 a
"""


class FoldersContract:
    """Work in folders of this machine; a subclass overrides the ``sandbox`` fixture."""

    async def test_surroundings_are_seen(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.folders:
            (tmp_path / "work").mkdir()
            (tmp_path / "work" / "mine.py").write_text("x = 7")
            (tmp_path / "work").chmod(0o777)
            (tmp_path / "shown").write_text("read me")
            given = Surroundings(tmp_path / "work", readable=(tmp_path / "shown",), env={"GIVEN": "env"})
            source = "import mine, os; print(mine.x, os.environ['GIVEN'], open(%r).read()); open('new', 'w')"
            work = Program(source % str(tmp_path / "shown"))
            result = await sandbox.execute(work, limits=Limits(seconds=30), surroundings=given)
            assert (result.stdout, result.stderr) == ("7 env read me\n", "")
            assert (tmp_path / "work" / "new").exists()

    async def test_a_folder_can_be_read_only(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.folders and sandbox.traits.isolated:
            folder = filled(tmp_path)
            for place in (None, tmp_path / "place"):
                result = await shell(sandbox, "cat a; echo > b", Surroundings(folder, writable=False, place=place))
                assert (result.status, result.stdout) == ("failed", "kept\n")
            assert not (folder / "b").exists()

    @pytest.mark.parametrize("name", ["/var/lib/x/y", "/tmp/work", "/root/x", "/home/me/x", "/opt/with space\nand é"])
    async def test_a_folder_has_a_place(self, sandbox: Sandbox, tmp_path: Path, name: str) -> None:
        if sandbox.traits.folders:
            folder = filled(tmp_path, "as 'it' is\n")
            given = Surroundings(folder, place=Path(name))
            result = await shell(sandbox, "pwd; cat a; echo new > b", given)
            seen = name if sandbox.traits.places else str(folder)
            assert (result.status, result.stdout, result.stderr) == ("ok", f"{seen}\nkept\n", ""), result
            assert (folder / "b").read_text() == "new\n"

    async def test_what_is_really_at_the_place_is_not_seen(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.places:
            folder, original = filled(tmp_path), filled(tmp_path, "original")
            (original / "a").write_text("other")
            (original / "only").touch()
            given = Surroundings(folder, place=original)
            result = await shell(sandbox, f"cat {original}/a; echo new > a; ls", given)
            assert result.stdout == "kept\na\n", result.stderr
            assert ((original / "a").read_text(), (folder / "a").read_text()) == ("other", "new\n")

    @pytest.mark.parametrize(
        "name",
        ["relative", "/", "/usr", "/usr/../tmp", "/tmp", "/proc", "/proc/x", "/etc", "/usr/no/such", "/tmp/\ud800"],
    )
    async def test_a_place_that_cannot_be_is_refused(self, sandbox: Sandbox, tmp_path: Path, name: str) -> None:
        result = await shell(sandbox, "echo never", Surroundings(filled(tmp_path), place=Path(name)))
        assert (result.status, result.stdout, bool(result.reason)) == ("refused", "", True)

    async def test_readable_paths_lie_over_the_folder(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.places:
            folder, original = filled(tmp_path), filled(tmp_path, "original")
            for where in (folder, original):
                (where / "deep" / "env").mkdir(parents=True)
            (original / "deep" / "env" / "tool").write_text("mine\n")
            env = original / "deep" / "env"
            given = Surroundings(folder, place=original, readable=(env, env, env / "tool"))
            result = await shell(sandbox, "cat deep/env/tool; echo x > deep/env/new; echo y > deep/new", given)
            assert (result.stdout, (folder / "deep" / "new").read_text()) == ("mine\n", "y\n"), result.stderr
            assert not (env / "new").exists()
            assert not list((folder / "deep" / "env").iterdir())
            shutil.rmtree(folder / "deep")
            (folder / "deep").symlink_to(tmp_path)
            assert (await shell(sandbox, "echo never", given)).status == "refused"

    async def test_readable_links_lead_where_they_did(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.folders and sandbox.traits.isolated:
            folder, shown = filled(tmp_path), filled(tmp_path, "shown")
            (tmp_path / "link").symlink_to(shown)
            (shown / "inner").symlink_to(filled(tmp_path, "target"))
            given = Surroundings(folder, readable=(tmp_path / "link", shown, shown / "inner"))
            result = await shell(sandbox, f"cat {tmp_path}/link/a {shown}/inner/a", given)
            assert result.stdout == "kept\nkept\n", result.stderr

    @pytest.mark.parametrize("name", ["/", "/proc", "/dev/null", "/no/such/path", "relative", "/usr/../root"])
    async def test_what_cannot_be_readable_is_refused(self, sandbox: Sandbox, tmp_path: Path, name: str) -> None:
        result = await shell(sandbox, "echo never", Surroundings(filled(tmp_path), readable=(Path(name),)))
        assert (result.status, result.stdout, bool(result.reason)) == ("refused", "", True)

    @pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
    async def test_git_works_in_a_folder(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.folders and sandbox.traits.commands:
            folder = filled(tmp_path)
            for place in (None, Path("/opt/repository")):
                shutil.rmtree(folder / ".git", ignore_errors=True)
                result = await shell(sandbox, COMMITS, Surroundings(folder, place=place))
                assert (result.status, result.stdout) == ("ok", "second\nfirst\n"), result.stderr
            assert (folder / ".git" / "HEAD").stat().st_uid == os.geteuid()

    async def test_what_work_leaves_in_a_folder_can_be_removed(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.folders and sandbox.traits.commands:
            folder = filled(tmp_path)
            result = await shell(sandbox, LEAVES_ODD_FILES, Surroundings(folder))
            assert result.status == "ok", result.stderr
            assert {path.lstat().st_uid for path in folder.iterdir()} == {os.geteuid()}
            assert stat.S_ISFIFO((folder / "pipe").lstat().st_mode)
            again = await shell(sandbox, "chmod 700 closed closed/deeper; rm -r closed pipe; ls", Surroundings(folder))
            assert (again.status, again.stdout) == ("ok", "a\nbroken\nout\nsetuid\n"), again.stderr
            (folder / "a").chmod(0o600)
            shutil.rmtree(folder)

    @pytest.mark.parametrize(
        ("script", "status", "said"),
        [
            ("sleep 300 & echo started", "ok", "started\n"),
            ("kill -9 $$", "crashed", ""),
            ("i=0; while [ $i -lt 400 ]; do sleep 300 & i=$((i+1)); done; wait", "failed", ""),
        ],
    )
    async def test_shells_in_a_folder_end(
        self, sandbox: Sandbox, tmp_path: Path, script: str, status: str, said: str
    ) -> None:
        if sandbox.traits.folders and sandbox.traits.commands:
            result = await shell(sandbox, script, Surroundings(filled(tmp_path)))
            assert (result.status, result.stdout, result.seconds < 30) == (status, said, True)

    async def test_generous_limits_are_kept_to(self, sandbox: Sandbox, tmp_path: Path) -> None:
        if sandbox.traits.folders and sandbox.traits.commands:
            script = "yes | head -c 50000000; truncate -s 150000000 big"
            given = Surroundings(filled(tmp_path))
            script += "; truncate -s 150000000 $TMPDIR/big; ls -l big $TMPDIR/big | wc -l >&2"
            result = await shell(sandbox, script, given)
            assert (result.status, result.truncated, result.stderr) == ("ok", True, "2\n")

    async def test_the_network_is_reached_where_it_is_given(
        self, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if sandbox.traits.folders and sandbox.name not in ("docker", "podman"):
            monkeypatch.setenv("PLANTED_API_KEY", "planted-secret")
            with socket.create_server(("127.0.0.1", 0)) as listener:
                address = listener.getsockname()
                source = f"import os, socket; socket.create_connection({address!r}, 5); print(dict(os.environ))"
                given = Surroundings(filled(tmp_path), network=True)
                result = await sandbox.execute(Program(source), limits=ROOMY, surroundings=given)
                assert result.status == "ok", result.stderr
                assert "planted" not in result.stdout


async def shell(sandbox: Sandbox, script: str, surroundings: Surroundings, **given: Any) -> ExecResult:
    """Run a script of the shell."""
    return await sandbox.execute(Command(("sh", "-c", script)), limits=ROOMY, surroundings=surroundings, **given)


def filled(folder: Path, name: str = "work") -> Path:
    """A folder in which a file ``a`` says ``kept``."""
    (folder / name).mkdir()
    (folder / name / "a").write_text("kept\n")
    return folder / name
