"""The contract suite finds the stores that break it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import pytest

from treadle.store.base import Batch, CallRecord, SampleRecord
from treadle.store.sql import SqlStore
from treadle.testing.store_contract import PersistentStoreContract, StoreContract


class _LastCallWins(SqlStore):
    def write(self, batch: Batch) -> frozenset[str]:
        with self._writer.begin():
            for call in batch.calls:
                self._writer.exec_driver_sql("DELETE FROM calls WHERE key = ?", (call.key,))
        return super().write(batch)


class _LastExecutionWins(SqlStore):
    def write(self, batch: Batch) -> frozenset[str]:
        with self._writer.begin():
            for execution in batch.executions:
                self._writer.exec_driver_sql("DELETE FROM executions WHERE key = ?", (execution.key,))
        return super().write(batch)


class _SaysNothingOfWhatWasThere(SqlStore):
    def write(self, batch: Batch) -> frozenset[str]:
        super().write(batch)
        return frozenset()


class _ForgetsManyKeys(SqlStore):
    def calls(self, keys: Sequence[str]) -> dict[str, CallRecord]:
        return super().calls(keys[:999])


class _SortsByName(SqlStore):
    def samples(self, run: str, workflow: str | None = None) -> list[SampleRecord]:
        return sorted(super().samples(run, workflow), key=lambda row: row.sample)


class _WritesInPieces(SqlStore):
    def write(self, batch: Batch) -> frozenset[str]:
        present = super().write(Batch(calls=batch.calls))
        return present | super().write(Batch(samples=batch.samples, scores=batch.scores, events=batch.events))


CONTRACT = StoreContract()


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (_LastCallWins, CONTRACT.test_the_first_record_of_a_call_wins),
        (_SaysNothingOfWhatWasThere, CONTRACT.test_the_first_record_of_a_call_wins),
        (_LastExecutionWins, CONTRACT.test_a_finished_execution_is_found_by_its_key_and_its_first_record_wins),
        (_ForgetsManyKeys, CONTRACT.test_any_number_of_keys_is_looked_up),
        (_SortsByName, CONTRACT.test_samples_and_scores_come_in_the_order_of_their_first_writing),
        (_WritesInPieces, CONTRACT.test_a_batch_is_kept_whole_or_not_at_all),
    ],
)
def test_a_broken_store_is_found_out(broken: type[SqlStore], test: Callable[..., None]) -> None:
    arguments = {"count": 1300} if "count" in inspect.signature(test).parameters else {}
    for kind, found in ((SqlStore, False), (broken, True)):
        store = kind("sqlite:///:memory:")
        try:
            test(store, **arguments)
            failed = False
        except AssertionError:
            failed = True
        store.close()
        assert failed is found


def test_a_subclass_that_forgets_to_say_how_to_reopen_is_told() -> None:
    store = SqlStore("sqlite:///:memory:")
    with pytest.raises(NotImplementedError, match="reopen"):
        PersistentStoreContract().reopen(store)
    store.close()
