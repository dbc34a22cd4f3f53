"""From a url to a store, and the files that are none."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from treadle.errors import NotYetError, UserError
from treadle.store import sql
from treadle.store.base import Batch
from treadle.store.open import open_store
from treadle.testing.store_contract import call_record, execution_record, sample_record

NOBODY = 65534


def make_store(path: Path, rows: int = 1) -> None:
    store = open_store(f"sqlite:///{path}", Path())
    store.write(Batch(samples=[sample_record(f"q{i}") for i in range(rows)]))
    store.close()


@contextlib.contextmanager
def without_rights() -> Generator[None]:
    """Root may write everything; so step down for a moment where the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_relative_path_is_made_with_its_folders_beside_the_toml(tmp_path: Path) -> None:
    open_store("sqlite:///.treadle/deep/treadle.db", tmp_path).close()
    assert (tmp_path / ".treadle/deep/treadle.db").is_file()


def test_an_absolute_path_does_not_care_for_the_folder(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/a.db", tmp_path / "elsewhere").close()
    assert (tmp_path / "a.db").is_file()
    assert not (tmp_path / "elsewhere").exists()


def test_a_path_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    open_store("sqlite:///~/a.db", Path("/nowhere")).close()
    assert (tmp_path / "a.db").is_file()


def test_a_store_in_memory_makes_no_file_and_shares_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one, two = open_store("sqlite:///:memory:", tmp_path), open_store("sqlite:///:memory:", tmp_path)
    one.write(Batch(calls=[call_record("a")]))
    assert two.calls(["a"]) == {}
    assert list(tmp_path.iterdir()) == []
    one.close()
    two.close()


def test_writes_go_to_a_log_that_is_gone_after_closing(tmp_path: Path) -> None:
    store = open_store("sqlite:///a.db", tmp_path)
    store.write(Batch(calls=[call_record("a")]))
    assert (tmp_path / "a.db-wal").stat().st_size > 0
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_postgresql_is_for_later_and_its_password_is_not_repeated(tmp_path: Path) -> None:
    for url in ("postgresql://me:hunter2@db/x", "postgresql+psycopg://me:hunter2@db/x", "postgres://me:hunter2@db/x"):
        with pytest.raises(NotYetError) as caught:
            open_store(url, tmp_path)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["", "mysql://me:hunter2@db/x", "treadle.db", "sqlite:x.db", "sqlite://x.db", "sqlite:///", "sqlite:///x?mode=ro"],
)
def test_another_url_is_refused_with_the_form_that_would_do(url: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"sqlite:///\.treadle/treadle\.db") as caught:
        open_store(url, tmp_path)
    assert "hunter2" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_or_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="is a folder"):
        open_store("sqlite:///.", tmp_path)
    with pytest.raises(UserError, match="file cannot be made"):
        open_store("sqlite:///file/a.db", tmp_path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "a.db").touch()
    make_store(tmp_path / "a.db")


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    text, foreign = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("no database, but long enough to be looked at " * 50)
    with contextlib.closing(sqlite3.connect(foreign)) as other:
        other.execute("CREATE TABLE calls (caller)")
    before = text.read_bytes()
    with pytest.raises(UserError, match=r"notes\.txt is no SQLite file.*move it away"):
        open_store("sqlite:///notes.txt", tmp_path)
    with pytest.raises(UserError, match=r"other\.db is a database of something else"):
        open_store("sqlite:///other.db", tmp_path)
    assert text.read_bytes() == before
    with contextlib.closing(sqlite3.connect(foreign)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("calls",)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE treadle_schema SET version = 99", "newer Treadle.*schema 99.*upgrade"),
        ("DELETE FROM treadle_schema", "damaged"),
        ("DROP TABLE scores", "damaged"),
        ("DROP TABLE executions", "damaged"),
    ],
)
def test_a_store_of_another_version_or_without_its_tables_is_refused(tmp_path: Path, change: str, words: str) -> None:
    make_store(tmp_path / "a.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as other:
        other.execute(change)
        other.commit()
    with pytest.raises(UserError, match=words):
        open_store("sqlite:///a.db", tmp_path)


def test_a_store_from_before_programs_were_run_gets_what_is_new_and_keeps_the_rest(tmp_path: Path) -> None:
    make_store(tmp_path / "a.db", rows=3)
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as other:
        other.executescript("DROP TABLE executions; UPDATE treadle_schema SET version = 1")
    for _ in range(2):
        store = open_store("sqlite:///a.db", tmp_path)
        store.write(Batch(executions=[execution_record("e")]))
        assert store.executions(["e"]) == {"e": execution_record("e")}
        assert len(store.samples("run-1")) == 3
        store.close()


def test_a_damaged_page_is_told_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    make_store(path, rows=3000)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 3 // 4096 * 4096)
        file.write(b"\xa5" * (size // 3))
    store = open_store("sqlite:///a.db", tmp_path)
    with pytest.raises(UserError, match=r"a\.db is damaged.*\.recover"):
        store.samples("run-1")
    store.close()


def test_a_file_that_may_not_be_written_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("read-only")
    make_store(folder / "a.db")
    for parent in (folder, *list(folder.parents)[:3]):
        if parent.stat().st_uid == os.geteuid() and parent != Path(tempfile.gettempdir()):
            parent.chmod(0o755)
    (folder / "a.db").chmod(0o444)
    folder.chmod(0o555)
    try:
        with without_rights():
            with pytest.raises(UserError, match=r"a\.db cannot be (written|opened)"):
                open_store("sqlite:///a.db", folder)
            with pytest.raises(UserError, match="new cannot be made"):
                open_store("sqlite:///new/a.db", folder)
    finally:
        folder.chmod(0o755)


def test_a_lock_that_is_never_given_back_is_told_and_then_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "BUSY_S", 0.02)
    store = open_store("sqlite:///a.db", tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UserError, match="locked by another process"):
            store.write(Batch(calls=[call_record("a")]))
        assert store.calls(["a"]) == {}
        other.execute("ROLLBACK")
    store.write(Batch(calls=[call_record("a")]))
    assert store.calls(["a"])
    store.close()


def test_opening_waits_for_the_process_that_is_making_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE to_be_dropped (x)")
        other.execute("BEGIN IMMEDIATE")
        other.execute("DROP TABLE to_be_dropped")
        committing = threading.Timer(0.1, other.execute, ["COMMIT"])
        committing.start()
        open_store("sqlite:///a.db", tmp_path).close()
        committing.join()


def test_only_opening_a_store_imports_the_database_library() -> None:
    code = "import sys, treadle.store.open, treadle.store.text, treadle.store.owner; print('sqlalchemy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_a_folder_of_its_own_is_kept_out_of_version_control(tmp_path: Path) -> None:
    open_store("sqlite:///.treadle/treadle.db", tmp_path).close()
    assert (tmp_path / ".treadle" / ".gitignore").read_text().endswith("\n*\n")
    (tmp_path / ".treadle" / ".gitignore").write_text("mine\n")
    open_store("sqlite:///.treadle/treadle.db", tmp_path).close()
    assert (tmp_path / ".treadle" / ".gitignore").read_text() == "mine\n"
    open_store("sqlite:///other/treadle.db", tmp_path).close()
    assert not (tmp_path / "other" / ".gitignore").exists()
