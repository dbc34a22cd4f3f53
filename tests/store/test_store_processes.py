"""Many processes on one file, and processes that die: cases 43, 44 and 49."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import crowd
import msgspec

from treadle.store.open import open_store
from treadle.testing.store_contract import run_record


def start(command: str, folder: Path, *numbers: int) -> subprocess.Popen[bytes]:
    script = [sys.executable, crowd.__file__, command, str(folder), *map(str, numbers)]
    return subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> bytes:
    out, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
    assert errors == b""
    return out


def test_sixteen_processes_write_fifty_rows_each_while_one_reads(tmp_path: Path) -> None:
    crowd_at_work = start("write", tmp_path, 16, 50)
    store = open_store(crowd.URL, tmp_path)
    seen = [0]
    while crowd_at_work.poll() is None:
        seen.append(len(store.samples("run-1")))
    assert msgspec.json.decode(ended(crowd_at_work)) == [0] * 16
    assert seen == sorted(seen)
    keys = [f"{process}-{write}" for process in range(16) for write in range(50)]
    assert sorted(row.sample for row in store.samples("run-1")) == sorted(keys)
    assert set(store.calls(keys)) == set(keys)
    store.close()


def test_a_writer_killed_at_any_moment_leaves_the_last_complete_state(tmp_path: Path) -> None:
    told = set(msgspec.json.decode(ended(start("kill", tmp_path, 50))))
    assert len(told) > 50, "the writers were killed before they wrote"
    store = open_store(crowd.URL, tmp_path)
    kept = crowd.whole_batches(store)
    assert told <= kept
    assert len(kept - told) <= 50
    store.close()


def test_a_run_is_running_until_its_process_is_killed(tmp_path: Path) -> None:
    process = start("run", tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == b"saved\n"
    store = open_store(crowd.URL, tmp_path)
    store.save_run(run_record("of this process", started=2000.0))
    assert [run.ended_by for run in store.runs()] == [None, None]
    process.kill()
    process.communicate()
    assert [(run.id, run.ended_by) for run in store.runs()] == [
        ("of this process", None),
        ("of another process", "killed"),
    ]
    store.close()
