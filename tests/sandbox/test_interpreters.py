"""What has to be readable for an interpreter of this machine."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from treadle.sandbox.base import Command, Surroundings
from treadle.sandbox.bubblewrap import Bubblewrap
from treadle.sandbox.interpreters import readable_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what a system shows is Linux's")


def standalone(root: Path) -> Path:
    """The shape of an interpreter in a prefix of its own."""
    (root / "bin").mkdir(parents=True)
    (root / "lib" / "python3.11").mkdir(parents=True)
    (root / "bin" / "python3.11").touch(0o755)
    (root / "bin" / "python3").symlink_to("python3.11")
    return root / "bin" / "python3"


def environment(root: Path, base: Path) -> Path:
    (root / "bin").mkdir(parents=True)
    (root / "pyvenv.cfg").write_text(f"include-system-site-packages = false\nhome = {base.parent}\n")
    (root / "bin" / "python").symlink_to(base)
    return root / "bin" / "python"


def test_an_interpreter_needs_its_prefix(tmp_path: Path) -> None:
    assert readable_for(standalone(tmp_path / "base")) == (tmp_path / "base",)


def test_a_virtual_environment_needs_its_base_too(tmp_path: Path) -> None:
    base = standalone(tmp_path / "base")
    assert set(readable_for(environment(tmp_path / "env", base))) == {tmp_path / "base", tmp_path / "env"}


def test_links_on_the_way_are_followed(tmp_path: Path) -> None:
    standalone(tmp_path / "base-3.11.7")
    (tmp_path / "base-3.11").symlink_to("base-3.11.7")
    python = environment(tmp_path / "env", tmp_path / "base-3.11" / "bin" / "python3")
    assert set(readable_for(python)) == {tmp_path / name for name in ("base-3.11", "base-3.11.7", "env")}


def test_of_a_prefix_around_closed_folders_the_interpreter_alone_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = standalone(tmp_path / "base")
    (tmp_path / "base" / "lib" / "libpython3.11.so").touch()
    (tmp_path / "base" / "lib" / "mine").mkdir()
    parts = {tmp_path / "base" / name for name in ("bin", "lib/python3.11", "lib/libpython3.11.so")}
    env = environment(tmp_path / "env", python)
    (tmp_path / "link").symlink_to("base")
    for closed in (tmp_path / "base", tmp_path / "base" / "lib" / "mine", tmp_path / "link" / "src" / "repo"):
        assert set(readable_for(python, [closed])) == parts
        assert set(readable_for(env, [closed])) == {tmp_path / "env", *parts}
    assert readable_for(python, [tmp_path / "base-2", tmp_path / "env"]) == (tmp_path / "base",)
    monkeypatch.setenv("HOME", str(tmp_path / "base"))
    assert set(readable_for(python)) == parts


@pytest.mark.parametrize("home", ["private", "no/such"])
def test_an_environment_without_an_interpreter_in_its_home_shows_none(tmp_path: Path, home: str) -> None:
    (tmp_path / "private").mkdir()
    python = environment(tmp_path / "env", tmp_path / home / "python3")
    assert readable_for(python.parent / "activate") == (tmp_path / "env",)


def test_another_executable_needs_itself(tmp_path: Path) -> None:
    (tmp_path / "tool").touch(0o755)
    assert readable_for(tmp_path / "tool") == (tmp_path / "tool",)


def test_links_in_a_circle_have_an_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert readable_for(tmp_path / "a") == ()


@pytest.mark.parametrize("name", ["/bin/sh", "/usr/bin/env", "/no/such/python"])
def test_what_the_system_shows_or_nobody_has_needs_nothing(name: str) -> None:
    assert readable_for(Path(name)) == ()


def said(python: Path, script: str) -> str:
    return subprocess.run([python, "-c", script], capture_output=True, text=True, cwd="/", check=False).stdout


async def test_a_virtual_environment_in_the_repository_runs_at_its_place(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    venv.create(original / ".venv", symlinks=True)
    (original / "mine.py").write_text("VALUE = 'original'\n")
    (copy / ".venv").mkdir(parents=True)
    (copy / "mine.py").write_text("VALUE = 'copy'\n")
    python = original / ".venv" / "bin" / "python"
    (library,) = (original / ".venv").glob("lib/python3*/site-packages")
    (library / "editable.pth").write_text(f"{original}\n")
    assert said(python, "import mine; print(mine.VALUE)") == "original\n"
    sandbox = Bubblewrap()
    given = Surroundings(copy, place=original, readable=readable_for(python))
    script = "import mine, os, sys; print(mine.VALUE, sys.prefix, os.getcwd())"
    result = await sandbox.execute(Command((str(python), "-c", script)), surroundings=given)
    await sandbox.aclose()
    assert result.stdout == f"copy {original}/.venv {original}\n", result.stderr + result.reason
    assert not list((copy / ".venv").iterdir())
