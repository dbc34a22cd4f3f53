# ruff: noqa: D102 - the names of the tests say what they ask for
"""The contract of a store as a test suite; subclass it to test a store of your own.

    class TestMyStore(PersistentStoreContract):
        @pytest.fixture
        def store(self, tmp_path):
            store = MyStore(tmp_path)
            yield store
            store.close()

        def reopen(self, store):
            return MyStore(store.folder)

A store whose content ends with it subclasses `StoreContract` and needs no ``reopen``.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from treadle.errors import TreadleError
from treadle.store.base import (
    Batch,
    CallRecord,
    EventRecord,
    ExecutionRecord,
    RunRecord,
    SampleRecord,
    ScoreRecord,
    Store,
)
from treadle.store.owner import owner

AWKWARD_TEXTS = (
    "",
    "é ß 漢字 👩‍👩‍👧 مرحبا",
    "a lone \ud83d surrogate",
    "the other half \udc00",
    "nul \x00 inside",
    "é and substitute \x1ad83d and \x1a\x1a",
    "line\r\nbreak\u2028\x7f\x85",
    "'; DROP TABLE calls; -- %s ? :name {x}",
)


def call_record(key: str, *, run: str = "run-1", text: str = "4", usd: float | None = 0.25) -> CallRecord:
    """A finished call with this key and reply."""
    completion = b'{"text":"' + text.encode() + b'"}'
    return CallRecord(key, run, "scripted:a.py", 0, b'{"messages":[]}', completion, 0.5, usd, 1, 1000.0)


def run_record(id: str = "run-1", *, started: float = 1000.0, owned_by: str = "", usd: float = 0.0) -> RunRecord:
    """A run that has not ended; this process owns it unless told otherwise."""
    return RunRecord(id, "eval", "gsm8k:a.jsonl", b'{"workflows":["cot"]}', owned_by or owner(), started, usd=usd)


def sample_record(sample: str, *, run: str = "run-1", workflow: str = "cot", repeat: int = 0) -> SampleRecord:
    """A sample that was answered."""
    return SampleRecord(run, workflow, sample, repeat, "ok", "4", 1, 0.25, 30, 0.5, b'{"name":"cot"}')


def score_record(sample: str, *, workflow: str = "cot", scorer: str = "numeric", value: float = 1.0) -> ScoreRecord:
    """A score of `sample_record`."""
    return ScoreRecord("run-1", workflow, sample, 0, scorer, value, "4", "equal")


def event_record(kind: str, subject: str, *, run: str = "run-1", at: float = 1000.0) -> EventRecord:
    """Something that happened."""
    return EventRecord(run, kind, subject, at, b'{"k":1}')


def execution_record(key: str, *, run: str = "run-1", text: str = "4") -> ExecutionRecord:
    """A finished execution with this key and output."""
    return ExecutionRecord(key, run, b'{"status":"ok","stdout":"' + text.encode() + b'"}', 0.02, 1000.0)


class StoreContract:
    """What every `treadle.store.base.Store` keeps to; a subclass overrides the ``store`` fixture."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """A new, empty store, closed after the test."""
        raise NotImplementedError("override the store fixture")

    def test_a_finished_call_is_found_by_its_key(self, store: Store) -> None:
        record = call_record("a")
        store.write(Batch(calls=[record]))
        assert store.calls(["a", "never made", "a"]) == {"a": record}

    @pytest.mark.parametrize("count", [0, 1, 3, 500, 1300])
    def test_any_number_of_keys_is_looked_up(self, store: Store, count: int) -> None:
        records = {f"key {i}": call_record(f"key {i}", text=str(i)) for i in range(count)}
        store.write(Batch(calls=list(records.values())))
        assert store.calls([*records, *(f"not there {i}" for i in range(count))]) == records

    def test_the_first_record_of_a_call_wins(self, store: Store) -> None:
        first = call_record("a", run="run-1", text="first")
        assert store.write(Batch(calls=[first])) == frozenset()
        assert store.write(Batch(calls=[call_record("a", run="run-2", text="later"), call_record("b")])) == {"a"}
        store.write(Batch(calls=[call_record("c", text="one"), call_record("c", text="same batch")]))
        assert store.calls(["a"]) == {"a": first}
        assert store.calls(["c"]) == {"c": call_record("c", text="one")}
        assert store.calls(["b"])

    def test_a_finished_execution_is_found_by_its_key_and_its_first_record_wins(self, store: Store) -> None:
        first, other = execution_record("a", text="first"), execution_record("b")
        assert store.write(Batch(executions=[first])) == frozenset()
        again = execution_record("a", run="run-2", text="later")
        assert store.write(Batch(executions=[again, other])) == {"a"}
        assert store.executions(["a", "b", "never made", "a"]) == {"a": first, "b": other}

    def test_a_call_and_an_execution_of_one_key_are_two(self, store: Store) -> None:
        call, execution = call_record("a"), execution_record("a")
        assert store.write(Batch(calls=[call], executions=[execution])) == frozenset()
        assert (store.calls(["a"]), store.executions(["a"])) == ({"a": call}, {"a": execution})
        assert store.write(Batch(calls=[call_record("b")], executions=[execution_record("a", text="later")])) == {"a"}

    @pytest.mark.parametrize("count", [0, 1, 700])
    def test_any_number_of_executions_is_looked_up(self, store: Store, count: int) -> None:
        records = {f"key {i}": execution_record(f"key {i}", text=str(i)) for i in range(count)}
        store.write(Batch(executions=list(records.values())))
        assert store.executions([*records, *(f"not there {i}" for i in range(count))]) == records

    def test_a_run_paid_for_the_calls_that_it_wrote_first(self, store: Store) -> None:
        calls = [call_record(key) for key in ("z", "a", "m")]
        store.write(Batch(calls=calls[:2]))
        store.write(Batch(calls=[call_record("a", run="run-2"), call_record("b", run="run-2"), calls[2]]))
        assert store.paid_by("run-1") == calls
        assert store.paid_by("run-2") == [call_record("b", run="run-2")]
        assert store.paid_by("run-3") == []

    def test_a_call_without_a_price_stays_without_one(self, store: Store) -> None:
        store.write(Batch(calls=[call_record("a", usd=None)]))
        assert store.calls(["a"])["a"].usd is None

    def test_big_texts_and_any_bytes_come_back(self, store: Store) -> None:
        record = replace(call_record("a"), request=bytes(range(256)) * 8000, completion=b"")
        sample = replace(sample_record("q"), answer="wörter " * 300_000)
        store.write(Batch(calls=[record], samples=[sample]))
        assert store.calls(["a"]) == {"a": record}
        assert store.samples("run-1") == [sample]

    @pytest.mark.parametrize("text", AWKWARD_TEXTS)
    def test_every_text_comes_back_as_it_was(self, store: Store, text: str) -> None:
        call = replace(call_record(text), model=text, run=text)
        run = replace(run_record(text), task=text, ended_by=text)
        sample = replace(sample_record(text, run=text), workflow=text, answer=text)
        score = replace(score_record(text), run=text, workflow=text, answer=text, reason=text)
        event = event_record(text, text, run=text)
        store.save_run(run)
        execution = execution_record(text, run=text)
        store.write(Batch([call], [sample], [score], [event], [execution]))
        assert store.calls([text]) == {text: call}
        assert store.executions([text]) == {text: execution}
        assert store.run(text) == run
        assert store.samples(text, text) == [sample]
        assert store.scores(text, text) == [score]
        assert store.events(text, text, text) == [event]

    def test_texts_that_differ_stay_different(self, store: Store) -> None:
        keys = ["\ud83d", "\x1ad83d", "\x1a", "\x00", "\x1a001a", "d83d", "\ufffd"]
        store.write(Batch(calls=[call_record(key, text=str(i)) for i, key in enumerate(keys)]))
        found = store.calls(keys)
        assert {key: found[key].completion for key in keys} == {
            key: call_record(key, text=str(i)).completion for i, key in enumerate(keys)
        }

    def test_numbers_that_are_none_come_back(self, store: Store) -> None:
        values = [math.nan, math.inf, -math.inf, 5e-324]
        store.write(Batch(scores=[score_record(f"q{i}", value=value) for i, value in enumerate(values)]))
        read = [score.value for score in store.scores("run-1")]
        assert [str(value) for value in read] == [str(value) for value in values]

    def test_samples_and_scores_come_in_the_order_of_their_first_writing(self, store: Store) -> None:
        names = ["q9", "q1", "q5"]
        store.write(Batch(samples=[sample_record(n) for n in names], scores=[score_record(n) for n in names]))
        again = replace(sample_record("q1"), answer="better", status="crash", usd=None)
        regraded = score_record("q9", value=0.0)
        store.write(Batch(samples=[again, sample_record("q0")], scores=[regraded, score_record("q0")]))
        samples = [sample_record("q9"), again, sample_record("q5"), sample_record("q0")]
        scores = [regraded, score_record("q1"), score_record("q5"), score_record("q0")]
        assert store.samples("run-1") == samples
        assert store.scores("run-1") == scores

    def test_each_part_of_its_key_tells_a_sample_from_another(self, store: Store) -> None:
        samples = [
            sample_record("q1"),
            sample_record("q1", repeat=1),
            sample_record("q1", workflow="single"),
            sample_record("q2"),
        ]
        other = sample_record("q1", run="run-2")
        scores = [score_record("q1"), score_record("q1", scorer="judge"), score_record("q1", workflow="single")]
        store.write(Batch(samples=[*samples, other], scores=scores))
        assert store.samples("run-1") == samples
        assert store.samples("run-2") == [other]
        assert store.samples("run-1", "single") == [samples[2]]
        assert store.samples("run-1", "nothing") == []
        assert store.scores("run-1", "cot") == scores[:2]

    def test_events_come_oldest_first_and_can_be_narrowed(self, store: Store) -> None:
        late, early = event_record("opened", "set-a", at=20.0), event_record("opened", "set-a", run="run-2", at=10.0)
        other = event_record("opened", "set-b", at=15.0)
        store.write(Batch(events=[late, early, other, event_record("gold", "set-a")]))
        store.write(Batch(events=[late]))
        assert store.events("opened") == [early, other, late, late]
        assert store.events("opened", "set-a") == [early, late, late]
        assert store.events("opened", "set-a", "run-1") == [late, late]
        assert store.events("opened", run="run-2") == [early]
        assert store.events("closed") == []

    def test_a_run_is_saved_and_then_replaced(self, store: Store) -> None:
        started = run_record()
        store.save_run(started)
        assert store.run("run-1") == started
        ended = replace(started, ended=1010.0, ended_by="done", usd=None, result=b"{}")
        store.save_run(ended)
        assert store.run("run-1") == ended
        assert store.runs() == [ended]
        assert store.run("run-2") is None

    def test_the_latest_runs_come_first(self, store: Store) -> None:
        started = {"b": 30.0, "a": 10.0, "c": 20.0, "d": 30.0}
        for id, at in started.items():
            store.save_run(run_record(id, started=at))
        store.save_run(run_record("b", started=30.0, usd=1.5))
        assert [run.id for run in store.runs()] == ["d", "b", "c", "a"]
        assert [run.id for run in store.runs(limit=2)] == ["d", "b"]

    def test_a_run_whose_process_died_was_killed(self, store: Store) -> None:
        gone = f"{owner().rsplit(':', 1)[0]}:of an earlier process with this pid"
        store.save_run(run_record("alive", started=3.0))
        store.save_run(run_record("dead", started=2.0, owned_by=gone))
        store.save_run(replace(run_record("ended", started=1.0, owned_by=gone), ended=5.0, ended_by="budget"))
        assert [(run.id, run.ended_by) for run in store.runs()] == [
            ("alive", None),
            ("dead", "killed"),
            ("ended", "budget"),
        ]
        dead = store.run("dead")
        assert dead is not None
        assert dead.ended_by == "killed"

    def test_a_batch_is_kept_whole_or_not_at_all(self, store: Store) -> None:
        impossible = replace(sample_record("q2"), tokens=10**30)
        batch = Batch([call_record("a")], [sample_record("q1"), impossible], executions=[execution_record("a")])
        with pytest.raises(TreadleError):
            store.write(batch)
        assert store.calls(["a"]) == {}
        assert store.executions(["a"]) == {}
        assert store.samples("run-1") == []
        store.write(Batch(calls=[call_record("a")], samples=[sample_record("q1")]))
        assert store.samples("run-1") == [sample_record("q1")]

    def test_an_empty_batch_is_no_mistake(self, store: Store) -> None:
        store.write(Batch())
        assert store.runs() == []

    def test_one_thread_reads_while_another_writes(self, store: Store) -> None:
        failures: list[BaseException] = []

        def write() -> None:
            try:
                for i in range(60):
                    names = [f"{i}-{k}" for k in range(10)]
                    store.write(Batch(calls=[call_record(n) for n in names], samples=[sample_record(n) for n in names]))
            except BaseException as error:
                failures.append(error)

        writer = threading.Thread(target=write)
        writer.start()
        seen: list[int] = []
        keys = [f"{i}-{k}" for i in range(60) for k in range(10)]
        while writer.is_alive():
            seen.append(len(store.samples("run-1")))
            assert len(store.calls(keys)) >= seen[-1]
        writer.join()
        assert not failures
        assert all(count % 10 == 0 for count in seen), "a reader saw half a batch"
        assert seen == sorted(seen)
        assert len(store.calls(keys)) == 600

    def test_closing_twice_is_no_mistake_but_using_it_after_is(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(TreadleError):
            store.calls(["a"])
        with pytest.raises(TreadleError):
            store.write(Batch(calls=[call_record("a")]))


class PersistentStoreContract(StoreContract):
    """What a store whose content outlives it also keeps to; a subclass overrides ``store`` and ``reopen``."""

    def reopen(self, store: Store) -> Store:
        """Another store on the content of this one, which may be open or closed."""
        raise NotImplementedError("override reopen")

    def test_everything_is_there_after_it_was_closed(self, store: Store) -> None:
        store.save_run(run_record())
        answered = [sample_record("q")], [score_record("q")]
        store.write(Batch([call_record("a")], *answered, [event_record("k", "s")], [execution_record("a")]))
        store.close()
        again = self.reopen(store)
        assert again.calls(["a"]) == {"a": call_record("a")}
        assert again.executions(["a"]) == {"a": execution_record("a")}
        assert again.samples("run-1") == [sample_record("q")]
        assert again.scores("run-1") == [score_record("q")]
        assert again.events("k") == [event_record("k", "s")]
        assert again.run("run-1") == run_record()
        again.close()

    def test_what_one_wrote_the_other_reads_at_once(self, store: Store) -> None:
        other = self.reopen(store)
        for i in range(5):
            writer, reader = (store, other) if i % 2 else (other, store)
            writer.write(Batch(calls=[call_record(f"k{i}")], samples=[sample_record(f"q{i}")]))
            assert reader.calls([f"k{i}"]) == {f"k{i}": call_record(f"k{i}")}
        assert [row.sample for row in store.samples("run-1")] == [f"q{i}" for i in range(5)]
        other.close()
        assert store.calls(["k4"])
