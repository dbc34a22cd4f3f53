"""SQLite keeps the contract, in a file and in memory; PostgreSQL gets the same statements in its own words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.dialects import postgresql

from treadle.store.base import Store
from treadle.store.open import open_store
from treadle.store.tables import Codecs
from treadle.testing.store_contract import (
    PersistentStoreContract,
    StoreContract,
    call_record,
    execution_record,
    sample_record,
)


class TestMemory(StoreContract):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        store = open_store("sqlite:///:memory:", Path())
        yield store
        store.close()


class TestFile(PersistentStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        self.url = f"sqlite:///{tmp_path}/of a store #1/100%.db"
        store = open_store(self.url, tmp_path)
        yield store
        store.close()

    def reopen(self, store: Store) -> Store:
        return open_store(self.url, Path())


def test_the_statements_are_written_for_postgresql_too() -> None:
    codecs = Codecs(postgresql.dialect(paramstyle="format"))
    assert codecs.calls.insert.count("%s") == len(codecs.calls.rows([call_record("a")])[0])
    assert "ON CONFLICT (key) DO NOTHING" in codecs.calls.insert
    assert codecs.calls.select_in("key", 4).count("%s") == 4
    assert codecs.executions.insert.count("%s") == len(codecs.executions.rows([execution_record("a")])[0])
    assert "ON CONFLICT (key) DO NOTHING" in codecs.executions.insert
    assert codecs.samples.insert.count("%s") == len(codecs.samples.rows([sample_record("q")])[0])
    assert "ON CONFLICT (run, workflow, sample, repeat) DO UPDATE SET" in codecs.samples.insert
    assert "seq = excluded" not in codecs.samples.insert
