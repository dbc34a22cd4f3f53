"""Files put into a folder that untrusted work may have changed."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.sandbox.process import RefusedPathError, write_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")


class TestFiles:
    def test_files_and_their_folders_are_made(self, tmp_path: Path) -> None:
        write_files(tmp_path, {"a": b"1", "b/c/d.txt": b"\0", "b//./e": b""})
        assert (tmp_path / "a").read_bytes() == b"1"
        assert (tmp_path / "b/c/d.txt").read_bytes() == b"\0"
        assert (tmp_path / "b/e").read_bytes() == b""
        assert (tmp_path / "b/c").stat().st_mode & 0o777 == 0o755
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644

    @pytest.mark.parametrize(
        "path",
        [
            "",
            ".",
            "/",
            "/etc/x",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "a\0b",
            "a/",
            "link/x",
            "dir",
            "f/x",
            "\ud800",
            "long" * 99,
        ],
    )
    def test_a_path_that_is_none_or_leaves_the_folder_is_refused(self, tmp_path: Path, path: str) -> None:
        folder, outside = tmp_path / "in", tmp_path / "out"
        (folder / "dir").mkdir(parents=True)
        outside.mkdir()
        (folder / "link").symlink_to(outside)
        (folder / "f").write_text("")
        with pytest.raises(RefusedPathError):
            write_files(folder, {path: b"x"})
        assert not list(outside.iterdir())

    def test_links_that_work_left_behind_are_replaced_not_followed(self, tmp_path: Path) -> None:
        folder, outside = tmp_path / "in", tmp_path / "out"
        folder.mkdir()
        outside.write_text("untouched")
        (folder / "soft").symlink_to(outside)
        (folder / "hard").hardlink_to(outside)
        os.mkfifo(folder / "pipe")
        write_files(folder, {"soft": b"new", "hard": b"new", "pipe": b"new"})
        assert outside.read_text() == "untouched"
        assert [(folder / name).read_bytes() for name in ("soft", "hard", "pipe")] == [b"new"] * 3

    def test_nothing_is_written_when_one_path_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(RefusedPathError):
            write_files(tmp_path, {"a": b"", "../b": b""})
        assert not list(tmp_path.iterdir())

    @given(path=st.lists(st.sampled_from(["a", "b", "..", ".", "", "\0", "é", "~"]), max_size=6).map("/".join))
    def test_whatever_the_path_nothing_outside_is_touched(self, path: str) -> None:
        with fresh_folder() as top:
            folder = top / "in" / "deeper"
            folder.mkdir(parents=True)
            with contextlib.suppress(RefusedPathError):
                write_files(folder, {path: b"x"})
                assert [found.read_bytes() for found in folder.rglob("*") if found.is_file()] == [b"x"]
            assert [found for found in top.rglob("*") if folder not in (found, *found.parents)] == [top / "in"]


@contextlib.contextmanager
def fresh_folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)
