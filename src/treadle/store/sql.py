"""The store on a SQL database, through SQLAlchemy Core and, where every microsecond counts, the driver's cursor."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, NullPool, Select, create_engine, event
from sqlalchemy.exc import DBAPIError

from treadle.errors import UserError
from treadle.store.base import Batch, CallRecord, EventRecord, ExecutionRecord, RunRecord, SampleRecord, ScoreRecord
from treadle.store.owner import is_alive
from treadle.store.tables import EVENTS, RUNS, Codec, Codecs, Row, prepare
from treadle.store.text import storable

R = TypeVar("R")

BUSY_S = 60.0
"""How long a write waits for other processes' writes."""

_MEMORY = ":memory:"
_MOST_KEYS = 512
_PRAGMAS = (
    "PRAGMA synchronous=NORMAL",
    "PRAGMA cache_size=-32000",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA wal_autocheckpoint=4000",
    "PRAGMA journal_size_limit=67108864",
)
_REMEDIES = (
    (("locked", "busy"), f"was kept locked by another process for {BUSY_S:.0f} s; end that process or try again"),
    (("readonly", "read-only"), "cannot be written; give write permission or name another file under [store] url"),
    (("not a database",), "is no SQLite file; move it away or name another file under [store] url"),
    (("malformed", "corrupt"), "is damaged; move it away, or save what is left with `sqlite3 FILE .recover`"),
    (("unable to open",), "cannot be opened; its folder must exist and be writable"),
    (("full",), "cannot grow: the disk is full; free some space"),
)


class SqlStore:
    """A `treadle.store.base.Store` on SQLite.

    It holds one connection that reads and one that writes, each behind its own lock, so one thread may read while
    another writes; a store in memory has one connection for both. Write transactions take the write lock at once
    (``BEGIN IMMEDIATE``) and wait up to `BUSY_S` for other processes.

    Args:
        url: ``sqlite:///:memory:`` or ``sqlite:///`` and a path, taken as it stands. `treadle.store.open.open_store`
            resolves what a user writes.

    Raises:
        UserError: The file cannot be opened or written, is damaged, or belongs to something else or a newer version.
    """

    def __init__(self, url: str) -> None:
        self._path = url.removeprefix("sqlite:///")
        self._engine = _engine(self._path)
        dbapi: Any = self._engine.dialect.dbapi
        self._failures: tuple[type[Exception], ...] = (DBAPIError, dbapi.Error, OverflowError)
        self._codecs = Codecs(self._engine.dialect)
        self._lookups: dict[tuple[type, int], str] = {}
        self._write_lock = threading.RLock()
        self._read_lock = self._write_lock if self._path == _MEMORY else threading.RLock()
        self._connections: list[Connection] = []
        self._closed = False
        try:
            self._writer = self._connect()
            with self._writer.begin():
                refusal = prepare(self._writer)
            if refusal:
                raise UserError(f"{self._path} {refusal}")
            self._reader = self._writer if self._path == _MEMORY else self._connect(isolation_level="AUTOCOMMIT")
        except (*self._failures, UserError) as error:
            self.close()
            raise self._explained(error) from None

    def calls(self, keys: Sequence[str]) -> dict[str, CallRecord]:
        """The records found under these keys (any number of keys)."""
        return {record.key: record for record in self._among(self._codecs.calls, keys)}

    def executions(self, keys: Sequence[str]) -> dict[str, ExecutionRecord]:
        """The records found under these keys (any number of keys)."""
        return {record.key: record for record in self._among(self._codecs.executions, keys)}

    def paid_by(self, run: str) -> list[CallRecord]:
        """The calls that a run paid for, in the order in which they were written."""
        return self._read(self._codecs.calls, self._codecs.calls.select(run=run))

    def write(self, batch: Batch) -> frozenset[str]:
        """Commit a batch in one short transaction; the keys of calls and executions that were there already."""
        codecs = self._codecs
        calls, executions, *_ = self._write(
            (codecs.calls.insert, codecs.calls.rows(batch.calls)),
            (codecs.executions.insert, codecs.executions.rows(batch.executions)),
            (codecs.samples.insert, codecs.samples.rows(batch.samples)),
            (codecs.scores.insert, codecs.scores.rows(batch.scores)),
            (codecs.events.insert, codecs.events.rows(batch.events)),
        )
        present: set[str] = set()
        if calls < len(batch.calls):
            found = self.calls([record.key for record in batch.calls])
            present |= {record.key for record in batch.calls if found[record.key] != record}
        if executions < len(batch.executions):
            made = self.executions([record.key for record in batch.executions])
            present |= {record.key for record in batch.executions if made[record.key] != record}
        return frozenset(present)

    def save_run(self, run: RunRecord) -> None:
        """Insert or replace a run."""
        self._write((self._codecs.runs.insert, self._codecs.runs.rows([run])))

    def run(self, id: str) -> RunRecord | None:
        """A run by its id, or ``None``; ``killed`` is told as by `runs`."""
        found = self._read(self._codecs.runs, self._codecs.runs.select(id=id))
        return _as_it_ended(found[0]) if found else None

    def runs(self, limit: int = 100) -> list[RunRecord]:
        """The latest runs, newest first; one whose owner is dead and never ended comes with ``ended_by`` ``killed``."""
        started, seq = RUNS.c.started, RUNS.c.seq
        query = self._codecs.runs.select().order_by(None).order_by(started.desc(), seq.desc()).limit(limit)
        return [_as_it_ended(run) for run in self._read(self._codecs.runs, query)]

    def samples(self, run: str, workflow: str | None = None) -> list[SampleRecord]:
        """A run's samples in the order in which they were first written."""
        return self._read(self._codecs.samples, self._codecs.samples.select(run=run, workflow=workflow))

    def scores(self, run: str, workflow: str | None = None) -> list[ScoreRecord]:
        """A run's scores in the order in which they were first written."""
        return self._read(self._codecs.scores, self._codecs.scores.select(run=run, workflow=workflow))

    def events(self, kind: str, subject: str | None = None, run: str | None = None) -> list[EventRecord]:
        """Events of a kind, oldest first, narrowed by subject and run."""
        query = self._codecs.events.select(kind=kind, subject=subject, run=run)
        return self._read(self._codecs.events, query.order_by(None).order_by(EVENTS.c.at, EVENTS.c.seq))

    def close(self) -> None:
        """Free the connections; may be called twice."""
        with self._write_lock, self._read_lock:
            self._closed = True
            while self._connections:
                self._connections.pop().close()
            self._engine.dispose()

    def _connect(self, **options: Any) -> Connection:
        connection = self._engine.connect().execution_options(**options)
        self._connections.append(connection)
        return connection

    def _among(self, codec: Codec[R], keys: Sequence[str]) -> list[R]:
        wanted = [storable(key) for key in keys]
        found: list[R] = []
        for start in range(0, len(wanted), _MOST_KEYS):
            found += codec.records(self._rows(codec, wanted[start : start + _MOST_KEYS]))
        return found

    def _rows(self, codec: Codec[Any], keys: list[str]) -> list[Row]:
        """The rows of up to `_MOST_KEYS` keys; their number is padded, so that few statements are prepared."""
        size = 1 << (len(keys) - 1).bit_length()
        sql = self._lookups.get((codec.record, size))
        if sql is None:
            sql = self._lookups[codec.record, size] = codec.select_in("key", size)
        with self._read_lock:
            self._check_open()
            try:
                cursor = self._reader.connection.cursor()
                cursor.execute(sql, keys + keys[-1:] * (size - len(keys)))
                rows = cursor.fetchall()
                cursor.close()
            except self._failures as error:
                raise self._explained(error) from error
        return list(rows)

    def _read(self, codec: Codec[R], query: Select[Any]) -> list[R]:
        with self._read_lock:
            self._check_open()
            try:
                with self._reader.begin():
                    rows = self._reader.execute(query).all()
            except self._failures as error:
                raise self._explained(error) from error
        return codec.records(rows)

    def _write(self, *steps: tuple[str, list[Row]]) -> list[int]:
        """Execute statements in one transaction; how many rows each of them changed."""
        changed = [0] * len(steps)
        with self._write_lock:
            self._check_open()
            try:
                with self._writer.begin():
                    cursor = self._writer.connection.cursor()
                    for place, (sql, rows) in enumerate(steps):
                        if rows:
                            cursor.executemany(sql, rows)
                            changed[place] = cursor.rowcount
                    cursor.close()
            except self._failures as error:
                raise self._explained(error) from error
        return changed

    def _check_open(self) -> None:
        if self._closed:
            raise UserError(f"{self._path} was closed; open the store again")

    def _explained(self, error: Exception) -> UserError:
        if isinstance(error, UserError):
            return error
        reason = str(error.orig if isinstance(error, DBAPIError) else error).splitlines()[0]
        if isinstance(error, OverflowError):
            return UserError(f"{self._path}: a number is too large to be kept: {reason}")
        for words, remedy in _REMEDIES:
            if any(word in reason for word in words):
                return UserError(f"{self._path} {remedy} ({reason})")
        return UserError(f"{self._path}: the store failed: {reason}")


def _engine(path: str) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=path),
        poolclass=NullPool,
        connect_args={"timeout": BUSY_S, "check_same_thread": False, "isolation_level": None},
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def _configure(connection: Any, _record: object) -> None:
    _use_wal(connection)
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _use_wal(connection: Any) -> None:
    """SQLite does not always wait when two processes switch a new file at once, so we do."""
    deadline = time.monotonic() + BUSY_S
    pause = threading.Event()
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            pause.wait(random.uniform(0.001, 0.02))


def _begin_immediate(connection: Connection) -> None:
    if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _as_it_ended(run: RunRecord) -> RunRecord:
    if run.ended_by is None and not is_alive(run.owner):
        return replace(run, ended_by="killed")
    return run
