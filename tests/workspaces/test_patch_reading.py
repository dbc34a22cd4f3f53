"""What belongs to a patch, and what a worker cannot change about how it is read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from repositories import checkout_of, git, picture, repository, write

from treadle.workspaces import rules
from treadle.workspaces.base import Patch, Repository

FILES = {
    "calc.py": b"def add(a, b):\n    return a - b\n",
    "tests/test_calc.py": b"from calc import add\n",
    "data.bin": b"\0\1\2",
    ".gitignore": b"*.tmp\nbuild/\n",
    "docs/page.md": b"# Page\n\nmany\nlines\nof\ntext\n",
}
FIX = b"def add(a, b):\n    return a + b\n"


def reasons(patch: Patch) -> dict[str, str]:
    return {each.path: each.reason for each in patch.left_out}


def changes(patch: Patch) -> dict[str, str]:
    return {each.path: each.change for each in patch.files}


async def test_tests_and_scratch_are_left_out_with_their_reasons(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        write(
            work,
            {
                "calc.py": FIX,
                "tests/test_calc.py": b"changed\n",
                "reproduce.py": b"x",
                "calc.py.orig": b"x",
                "new/module.py": b"y\n",
                "cache.tmp": b"ignored",
                "build/out.py": b"ignored",
            },
        )
        patch = await checkout.patch()
    assert changes(patch) == {"calc.py": "modified", "new/module.py": "added"}
    assert reasons(patch) == {
        "tests/test_calc.py": rules.TESTS,
        "reproduce.py": rules.SCRATCH,
        "calc.py.orig": rules.SCRATCH,
    }
    assert (patch.files[0].added, patch.files[0].removed) == (1, 1)


async def test_tests_belong_to_it_where_they_are_kept(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    async with checkout_of(Repository(source, keep_tests=True), tmp_path / "aside") as checkout:
        write(checkout.workspace.folder, {"tests/test_calc.py": b"changed\n", "test_more.py": b"new\n"})
        patch = await checkout.patch()
    assert changes(patch) == {"tests/test_calc.py": "modified", "test_more.py": "added"}
    assert not patch.left_out


async def test_renames_modes_and_deletions_are_named_as_such(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        (work / "docs/page.md").rename(work / "docs/other.md")
        (work / "calc.py").chmod(0o755)
        (work / "data.bin").unlink()
        patch = await checkout.patch()
    assert changes(patch) == {"docs/other.md": "renamed", "calc.py": "mode", "data.bin": "deleted"}
    assert next(each for each in patch.files if each.path == "docs/other.md").before == "docs/page.md"
    assert next(each for each in patch.files if each.path == "data.bin").binary


def _no_git(work: Path) -> None:
    shutil.rmtree(work / ".git")


def _broken_git(work: Path) -> None:
    (work / ".git/HEAD").write_bytes(b"\xff")
    (work / ".git/index").write_bytes(b"no index")


def _evil_git(work: Path) -> None:
    evil = f"touch {work.parent}/ran"
    with (work / ".git/config").open("a") as config:
        config.write(
            f'[core]\n fsmonitor = "{evil}"\n pager = "{evil}"\n[filter "e"]\n clean = "{evil}"\n smudge = "{evil}"\n'
            f'required = true\n[diff "e"]\n command = "{evil}"\n textconv = "{evil}"\n[diff]\n external = "{evil}"\n'
        )
    write(work, {".git/hooks/post-index-change": f"#!/bin/sh\n{evil}\n".encode()})
    (work / ".git/hooks/post-index-change").chmod(0o755)


def _committed(work: Path) -> None:
    git(work, "checkout", "-q", "-b", "mine")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "mine")


def _stash(work: Path) -> None:
    git(work, "stash", "-q")
    (work / "calc.py").write_bytes(FIX)


def _nested(work: Path) -> None:
    git(work, "init", "-q", "docs")


def _unreadable(work: Path) -> None:
    (work / "calc.py").chmod(0o200)
    (work / "docs").chmod(0)


def _deep(work: Path) -> None:
    at = os.open(work, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=at)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


SPOILING = [_no_git, _broken_git, _evil_git, _committed, _stash, _nested, _unreadable, _deep]


@pytest.mark.parametrize("spoil", SPOILING, ids=[each.__name__ for each in SPOILING])
async def test_nothing_that_a_worker_does_to_git_or_modes_changes_the_reading(tmp_path: Path, spoil: object) -> None:
    source = repository(tmp_path / "r", FILES)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        (work / "calc.py").write_bytes(FIX)
        expected = await checkout.patch()
        assert callable(spoil)
        spoil(work)
        assert (await checkout.patch()).content == expected.content
        assert not (work.parent / "ran").exists()
        await checkout.reset()
        assert picture(work) == picture(source)
    assert not (tmp_path / "aside").exists()


async def test_attributes_in_the_tree_convert_and_hide_nothing(tmp_path: Path) -> None:
    files = {
        "a.txt": b"one\r\ntwo\r\n",
        "b.txt": b"one\n",
        ".gitattributes": b"*.txt text eol=crlf -diff filter=e ident\n",
    }
    source = repository(tmp_path / "r", files)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        write(
            checkout.workspace.folder, {"a.txt": b"one\r\n2\r\n", "b.txt": b"$Id$\n", ".gitattributes": b"* binary\n"}
        )
        patch = await checkout.patch()
    assert b"-two\r\n+2\r\n" in patch.content
    assert not any(each.binary for each in patch.files)


async def test_a_pipe_is_left_out_and_never_read(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        os.mkfifo(work / "pipe")
        (work / "calc.py").unlink()
        os.mkfifo(work / "calc.py")
        patch = await checkout.patch()
    assert changes(patch) == {"calc.py": "deleted"}
    assert reasons(patch) == {"calc.py": rules.SPECIAL, "pipe": rules.SPECIAL}


async def test_large_files_are_copied_and_stay_out(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    with (source / "model.bin").open("wb") as file:
        file.truncate(2**30)
    git(source, "config", "core.bigFileThreshold", "1m")
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        assert (work / "model.bin").stat().st_size == 2**30
        assert (work / "model.bin").stat().st_blocks == 0
        assert (await checkout.patch()).content == b""
        with (work / "new.bin").open("wb") as file:
            file.truncate(2**27)
        patch = await checkout.patch()
    assert reasons(patch) == {"new.bin": rules.LARGE_FILE}


async def test_what_was_there_untracked_never_gets_in(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    write(source, {"notes.txt": b"mine\n", ".env": b"KEY=secret\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        assert (work / "notes.txt").exists()
        assert not (work / ".env").exists()
        assert any(".env" in remark for remark in checkout.remarks)
        write(work, {"notes.txt": b"yours\n", ".env": b"KEY=other\n"})
        patch = await checkout.patch()
    assert patch.content == b""
    assert reasons(patch) == {"notes.txt": rules.UNTRACKED, ".env": rules.WITHHELD}


async def test_a_name_that_is_no_utf8_is_quoted_so_that_the_patch_is_text(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        write(checkout.workspace.folder, {os.fsdecode(b"\xff.py"): b"x\n", "ü.py": b"y\n"})
        patch = await checkout.patch()
    assert patch.text.encode() == patch.content
    git(source, "apply", stdin=patch.content)
    assert (source / os.fsdecode(b"\xff.py")).read_bytes() == b"x\n"


async def test_patches_and_the_workers_history_are_the_same_on_every_replay(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    seen: list[tuple[str, bytes]] = []
    for number in range(2):
        async with checkout_of(source, tmp_path / f"aside{number}") as checkout:
            work = checkout.workspace.folder
            assert git(work, "status", "--short") == ""
            assert git(work, "remote") == ""
            (work / "calc.py").write_bytes(FIX)
            seen.append((git(work, "log", "--format=%H %an %s"), (await checkout.patch()).content))
    assert seen[0] == seen[1]
    assert seen[0][0].count("\n") == 1


async def test_a_change_that_is_no_utf8_stands_in_it_as_binary_so_that_the_patch_is_text(tmp_path: Path) -> None:
    files = {"a.txt": b"caf\xe9\nx\n", "b.txt": b"plain\n", 'odd "[*] name': b"\xff\n", "m.txt": b"\xe8\n" * 9}
    source = repository(tmp_path / "r", files)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        (work / "m.txt").rename(work / "moved.txt")
        write(work, {"a.txt": b"caf\xe9\ny\n", "b.txt": b"changed\n", 'odd "[*] name': b"\xfe\n", "new": b"\xe9"})
        patch = await checkout.patch()
        wanted = picture(work)
    assert patch.text.encode() == patch.content
    assert {each.path: each.binary for each in patch.files} == {
        "a.txt": True,
        "b.txt": False,
        "moved.txt": False,
        "new": True,
        'odd "[*] name': True,
    }
    assert b"-plain" in patch.content
    applied = tmp_path / "applied"
    shutil.copytree(source, applied, symlinks=True)
    git(applied, "apply", "-", stdin=patch.content)
    assert picture(applied) == wanted
