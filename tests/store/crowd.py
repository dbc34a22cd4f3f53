"""Processes that write one store together, or are killed while they write; run as a script by the tests.

It forks from a process without threads, which a test process cannot promise to be.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import msgspec

from treadle.store import sql
from treadle.store.base import Batch, Store
from treadle.store.open import open_store
from treadle.testing.store_contract import (
    call_record,
    event_record,
    execution_record,
    run_record,
    sample_record,
    score_record,
)

URL = "sqlite:///crowd/treadle.db"
ROWS = 3
IMPORTED_BEFORE_FORKING = sql


def fork(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def write_together(folder: Path, processes: int, writes: int) -> None:
    """All processes open a store that is not yet there at the same moment, and each writes its rows one by one."""
    gate, opener = os.pipe()

    def work(name: int) -> None:
        os.close(opener)
        os.read(gate, 1)
        store = open_store(URL, folder)
        for i in range(writes):
            key = f"{name}-{i}"
            store.write(Batch(calls=[call_record(key)], samples=[sample_record(key)]))
        store.close()

    pids = [fork(lambda name=name: work(name)) for name in range(processes)]
    os.close(opener)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    sys.stdout.buffer.write(msgspec.json.encode(codes))


def batch_of(name: str) -> Batch:
    """One batch over all tables, some kilobytes long."""
    names = [f"{name}.{row}" for row in range(ROWS)]
    return Batch(
        [call_record(n, text="x" * 700) for n in names],
        [sample_record(n) for n in names],
        [score_record(n) for n in names],
        [event_record("batch", n) for n in names],
        [execution_record(n) for n in names],
    )


def whole_batches(store: Store) -> set[str]:
    """The names of the batches in a store; a part of a batch is an error."""
    per_batch: dict[str, int] = {}
    samples = [row.sample for row in store.samples("run-1")]
    assert samples == [row.sample for row in store.scores("run-1")]
    assert samples == [row.subject for row in store.events("batch")]
    assert len(store.calls(samples)) == len(store.executions(samples)) == len(samples)
    for sample in samples:
        name = sample.rpartition(".")[0]
        per_batch[name] = per_batch.get(name, 0) + 1
    assert set(per_batch.values()) <= {ROWS}, "half a batch was kept"
    return set(per_batch)


def kill_while_writing(folder: Path, times: int) -> None:
    """Kill a writer at a random moment, look at what is kept, and start the next one on it."""
    chance = random.Random(7)
    told: set[str] = set()
    for turn in range(times):
        hears, tells = os.pipe()

        def work(turn: int = turn, tells: int = tells) -> None:
            store = open_store(URL, folder)
            for i in range(100_000):
                store.write(batch_of(f"{turn}-{i}"))
                os.write(tells, f"{turn}-{i}\n".encode())

        pid = fork(work)
        os.close(tells)
        heard = os.read(hears, 100) if turn % 5 else b""
        until = time.monotonic() + chance.uniform(0, 0.008)
        while (left := until - time.monotonic()) > 0:
            if select.select([hears], [], [], left)[0]:
                heard += os.read(hears, 4096)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        while more := os.read(hears, 4096):
            heard += more
        os.close(hears)
        told.update(heard.decode().split())
        store = open_store(URL, folder)
        kept = whole_batches(store)
        assert told <= kept, "a committed batch is gone"
        assert len(kept - told) <= turn + 1
        store.close()
    sys.stdout.buffer.write(msgspec.json.encode(sorted(told)))


def start_a_run(folder: Path) -> None:
    """Save a run, say so, and wait to be killed."""
    store = open_store(URL, folder)
    store.save_run(run_record("of another process"))
    print("saved", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    command, folder, *numbers = sys.argv[1:]
    if command == "write":
        write_together(Path(folder), *map(int, numbers))
    elif command == "kill":
        kill_while_writing(Path(folder), *map(int, numbers))
    else:
        start_a_run(Path(folder))
