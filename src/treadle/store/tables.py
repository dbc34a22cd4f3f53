"""The tables of the SQL store, the statements over them, and the way between rows and records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ClauseElement,
    Column,
    Connection,
    Dialect,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeEngine

from treadle.store.base import CallRecord, EventRecord, ExecutionRecord, RunRecord, SampleRecord, ScoreRecord
from treadle.store.text import restored, storable

SCHEMA_VERSION = 2

R = TypeVar("R")
Row = Sequence[Any]

_METADATA = MetaData()
_INSERTS = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


def _seq() -> Column[int]:
    return Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)


def _column(name: str, kind: TypeEngine[Any], *, optional: bool = False) -> Column[Any]:
    """SQLite keeps NaN as NULL, so a required float's column allows NULL and `Codec` reads it as NaN."""
    nan = isinstance(kind, Double) and not optional
    return Column(name, kind, nullable=optional or nan, info={"nan": nan})


SCHEMA = Table("treadle_schema", _METADATA, Column("version", Integer, nullable=False))

CALLS = Table(
    "calls",
    _METADATA,
    _seq(),
    _column("key", Text()),
    _column("run", Text()),
    _column("model", Text()),
    _column("draw", BigInteger()),
    _column("request", LargeBinary()),
    _column("completion", LargeBinary()),
    _column("seconds", Double()),
    _column("usd", Double(), optional=True),
    _column("attempts", BigInteger()),
    _column("at", Double()),
    UniqueConstraint("key"),
    Index("calls_run", "run"),
)

RUNS = Table(
    "runs",
    _METADATA,
    _seq(),
    _column("id", Text()),
    _column("command", Text()),
    _column("task", Text()),
    _column("spec", LargeBinary()),
    _column("owner", Text()),
    _column("started", Double()),
    _column("ended", Double(), optional=True),
    _column("ended_by", Text(), optional=True),
    _column("usd", Double(), optional=True),
    _column("result", LargeBinary(), optional=True),
    UniqueConstraint("id"),
    Index("runs_started", "started"),
)

SAMPLES = Table(
    "samples",
    _METADATA,
    _seq(),
    _column("run", Text()),
    _column("workflow", Text()),
    _column("sample", Text()),
    _column("repeat", BigInteger()),
    _column("status", Text()),
    _column("answer", Text()),
    _column("calls", BigInteger()),
    _column("usd", Double(), optional=True),
    _column("tokens", BigInteger()),
    _column("seconds", Double()),
    _column("trace", LargeBinary()),
    UniqueConstraint("run", "workflow", "sample", "repeat"),
)

SCORES = Table(
    "scores",
    _METADATA,
    _seq(),
    _column("run", Text()),
    _column("workflow", Text()),
    _column("sample", Text()),
    _column("repeat", BigInteger()),
    _column("scorer", Text()),
    _column("value", Double()),
    _column("answer", Text()),
    _column("reason", Text()),
    UniqueConstraint("run", "workflow", "sample", "repeat", "scorer"),
)

EVENTS = Table(
    "events",
    _METADATA,
    _seq(),
    _column("run", Text()),
    _column("kind", Text()),
    _column("subject", Text()),
    _column("at", Double()),
    _column("payload", LargeBinary()),
    Index("events_kind", "kind", "subject"),
)

EXECUTIONS = Table(
    "executions",
    _METADATA,
    _seq(),
    _column("key", Text()),
    _column("run", Text()),
    _column("result", LargeBinary()),
    _column("seconds", Double()),
    _column("at", Double()),
    UniqueConstraint("key"),
)

_ADDED = {2: (EXECUTIONS,)}
"""The tables that a version brought."""


class Codec(Generic[R]):
    """The way between one record type and its table, with the SQL of one dialect.

    Args:
        record: The record type; its fields are the table's columns in order.
        table: The table.
        dialect: What the SQL is written for; its parameters must be positional.
        replaced_by: The columns whose values a later record must share to replace an earlier one.
        kept_by: The columns whose values a later record must share to be ignored.
    """

    def __init__(
        self,
        record: type[R],
        table: Table,
        dialect: Dialect,
        *,
        replaced_by: Sequence[str] = (),
        kept_by: Sequence[str] = (),
    ) -> None:
        self.record = record
        self._table = table
        self._dialect = dialect
        self._columns = [column for column in table.columns if column.name != "seq"]
        self._values = attrgetter(*(column.name for column in self._columns))
        self._texts = [i for i, column in enumerate(self._columns) if isinstance(column.type, Text)]
        self._nans = [i for i, column in enumerate(self._columns) if column.info.get("nan")]
        self.insert = self._insert(replaced_by, kept_by)

    def select(self, **equal: str | None) -> Select[Any]:
        """All columns of the rows with these values (``None`` asks for nothing), in the order of their writing."""
        given = {name: storable(value) for name, value in equal.items() if value is not None}
        where = (self._table.c[name] == value for name, value in given.items())
        return select(*self._columns).where(*where).order_by(self._table.c.seq)

    def select_in(self, column: str, count: int) -> str:
        """The SQL of all columns where one column is among ``count`` parameters."""
        among: list[BindParameter[Any]] = [bindparam(f"{column}_{i}") for i in range(count)]
        return self._sql(select(*self._columns).where(self._table.c[column].in_(among)))

    def rows(self, records: Iterable[R]) -> list[Row]:
        """Records as the parameters of ``insert``."""
        return [self._row(record) for record in records]

    def records(self, rows: Iterable[Row]) -> list[R]:
        """What the SELECTs gave, as records."""
        return [self._read(row) for row in rows]

    def _row(self, record: R) -> Row:
        row: Row = self._values(record)
        for i in self._texts:
            text = row[i]
            if text is not None and (kept := storable(text)) is not text:
                row = (*row[:i], kept, *row[i + 1 :])
        return row

    def _read(self, row: Row) -> R:
        for i in self._texts:
            text = row[i]
            if text is not None and (whole := restored(text)) is not text:
                row = (*row[:i], whole, *row[i + 1 :])
        for i in self._nans:
            if row[i] is None:
                row = (*row[:i], math.nan, *row[i + 1 :])
        return self.record(*row)

    def _insert(self, replaced_by: Sequence[str], kept_by: Sequence[str]) -> str:
        names = [column.name for column in self._columns]
        query = _INSERTS[self._dialect.name](self._table).values({name: bindparam(name) for name in names})
        if kept_by:
            query = query.on_conflict_do_nothing(index_elements=kept_by)
        if replaced_by:
            changed = {name: query.excluded[name] for name in names if name not in replaced_by}
            query = query.on_conflict_do_update(index_elements=replaced_by, set_=changed)
        return self._sql(query)

    def _sql(self, statement: ClauseElement) -> str:
        return str(statement.compile(dialect=self._dialect))


class Codecs:
    """All record types over one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        answered = ("run", "workflow", "sample", "repeat")
        self.calls = Codec(CallRecord, CALLS, dialect, kept_by=("key",))
        self.executions = Codec(ExecutionRecord, EXECUTIONS, dialect, kept_by=("key",))
        self.runs = Codec(RunRecord, RUNS, dialect, replaced_by=("id",))
        self.samples = Codec(SampleRecord, SAMPLES, dialect, replaced_by=answered)
        self.scores = Codec(ScoreRecord, SCORES, dialect, replaced_by=(*answered, "scorer"))
        self.events = Codec(EventRecord, EVENTS, dialect)


def prepare(connection: Connection) -> str | None:
    """Make the tables that are not there, inside the caller's transaction; an older store gets what is new.

    Returns:
        Why the database cannot be used, with the remedy, or ``None``.
    """
    names = set(inspect(connection).get_table_names())
    if not names:
        _METADATA.create_all(connection)
        connection.execute(insert(SCHEMA).values(version=SCHEMA_VERSION))
        return None
    if SCHEMA.name not in names:
        return "is a database of something else; name another file under [store] url"
    version = connection.execute(select(func.max(SCHEMA.c.version))).scalar()
    new = [table for each, tables in _ADDED.items() if version is not None and each > version for table in tables]
    if version is None or not names.issuperset(_METADATA.tables.keys() - {table.name for table in new}):
        return "is damaged: its tables are not all there; move it away or restore a copy"
    if version > SCHEMA_VERSION:
        return (
            f"was written by a newer Treadle (schema {version}, this one knows {SCHEMA_VERSION}); "
            "upgrade Treadle or name another file under [store] url"
        )
    if version < SCHEMA_VERSION:
        _METADATA.create_all(connection, new)
        connection.execute(insert(SCHEMA).values(version=SCHEMA_VERSION))
    return None
