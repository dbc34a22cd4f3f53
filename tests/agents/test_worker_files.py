"""The file tools of a worker: they act inside the sandbox, and answer in words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from treadle.agents.tools.all import tools_for
from treadle.agents.tools.base import Observation
from treadle.sandbox.base import Limits
from treadle.testing.sessions import recording_run
from treadle.workspaces.workspace import Workspace


async def use(folder: Path, tool: str, **arguments: Any) -> Observation:
    """What a worker sees of one use of a tool."""
    async with recording_run(lambda request: "") as (run, _):
        return await tools_for(edits=True)[tool].act(arguments, Workspace(folder, folder, Limits(seconds=20)), run)


async def test_reading_numbers_lines_and_says_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 1_001)))
    seen = await use(tmp_path, "read", path="a.txt", first=10, last=12)
    assert seen.text == "[a.txt, lines 10 to 12 of 1000]\n    10\tline 10\n    11\tline 11\n    12\tline 12"
    assert "lines 1 to 400 of 1000" in (await use(tmp_path, "read", path="a.txt")).text
    assert "has 1000 lines" in (await use(tmp_path, "read", path="a.txt", first=2_000)).text


async def test_an_empty_file_and_lines_the_wrong_way_round_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    seen = await use(tmp_path, "read", path="empty")
    assert (seen.status, seen.text) == ("ok", "[empty is empty]")
    assert "has 0 lines" in (await use(tmp_path, "read", path="empty", first=2)).text
    seen = await use(tmp_path, "read", path="a.txt", first=3, last=1)
    assert (seen.status, seen.text) == ("failed", "last is 1, before first, which is 3")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("read", {}), ("search", {"pattern": "x"}), ("edit", {"old": "x", "new": "y"}), ("write", {"content": "x"})],
)
@pytest.mark.parametrize("path", ["pipe", "link", "/dev/null"])
async def test_what_is_no_regular_file_is_refused_and_never_waited_for(
    tmp_path: Path, tool: str, arguments: dict[str, str], path: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    seen = await use(tmp_path, tool, path=path, **arguments)
    assert (seen.status, seen.text) == ("failed", f"{path} is no regular file")


async def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.py").touch()
    (tmp_path / "b.bin").write_bytes(b"\0\1\2")
    (tmp_path / "out").symlink_to("/etc/shadow")
    assert "is a folder: x.py" in (await use(tmp_path, "read", path="sub")).text
    assert "is binary" in (await use(tmp_path, "read", path="b.bin")).text
    assert "does not exist" in (await use(tmp_path, "read", path="nowhere.py")).text
    seen = await use(tmp_path, "read", path="out")
    assert (seen.status, "root:" in seen.text) == ("failed", False)


async def test_searching_finds_lines_and_takes_broken_patterns_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(x):\n    return x[0]\n")
    (tmp_path / "b.txt").write_text("def g\n")
    assert "a.py:1:def f(x):" in (await use(tmp_path, "search", pattern=r"def \w\(")).text
    assert "b.txt" not in (await use(tmp_path, "search", pattern="def", glob="*.py")).text
    assert "a.py:2:" in (await use(tmp_path, "search", pattern="x[0")).text
    assert (await use(tmp_path, "search", pattern="nothing")).text == "no line matches"
    assert "does not exist" in (await use(tmp_path, "search", pattern="x", path="no")).text


async def test_searching_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 1_000)
    assert "more than 100 matches" in (await use(tmp_path, "search", pattern="x")).text


async def test_an_edit_wants_its_text_exactly_once(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\ny = 1\n\xff\n")
    assert (await use(tmp_path, "edit", path="a.py", old="x = 1", new="x = 2")).status == "ok"
    assert "stands 2 times" in (await use(tmp_path, "edit", path="a.py", old=" = ", new="=")).text
    assert "read the file first" in (await use(tmp_path, "edit", path="a.py", old="z", new="")).text
    near = await use(tmp_path, "edit", path="a.py", old="  x = 2\n  y = 1", new="")
    assert "its first line does" in near.text
    assert "nothing was changed" in (await use(tmp_path, "edit", path="a.py", old="y", new="y")).text
    assert file.read_bytes() == b"x = 2\ny = 1\n\xff\n"
    assert (await use(tmp_path, "edit", path="a.py", old=" = ", new="=", all=True)).status == "ok"
    assert file.read_bytes() == b"x=2\ny=1\n\xff\n"


async def test_writing_makes_folders_and_keeps_the_mode(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("old")
    (tmp_path / "run.sh").chmod(0o755)
    await use(tmp_path, "write", path="run.sh", content="new\n")
    await use(tmp_path, "write", path="a/b/c.py", content="")
    assert (tmp_path / "run.sh").read_text() == "new\n"
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "a" / "b" / "c.py").read_bytes() == b""
    assert "is a folder" in (await use(tmp_path, "write", path="a", content="")).text


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.txt", "/usr/x"])
async def test_nothing_outside_is_written(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "repo"
    inside.mkdir()
    seen = await use(inside, "write", path=path, content="x")
    assert seen.status == "failed"
    assert not (tmp_path / "outside.txt").exists()
