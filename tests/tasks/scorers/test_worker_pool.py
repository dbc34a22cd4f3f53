"""Children that do what could hang."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from treadle.errors import ProviderError
from treadle.tasks.scorers.worker import WorkerPool

ENDLESS = {"pattern": "(a+)+$", "text": "a" * 60 + "b"}


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool("regex")
    yield pool
    pool.close()


def children() -> set[int]:
    own = os.getpid()
    found: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == own and fields[0] != "Z":
            found.add(int(stat.parent.name))
    return found


def test_a_slow_job_ends_at_its_limit_and_the_next_one_works(pool: WorkerPool) -> None:
    assert pool.ask({"pattern": "b(.)", "text": "abc"}).value == "c"
    start = time.monotonic()
    reply = pool.ask(ENDLESS, 0.3)
    assert time.monotonic() - start < 2
    assert (reply.value, reply.failure) == (None, "timeout")
    assert pool.ask({"pattern": "b", "text": "abc"}).value == "b"


def test_an_error_of_the_job_is_a_value(pool: WorkerPool) -> None:
    reply = pool.ask({"pattern": "(", "text": "abc"})
    assert reply.failure == "error"
    assert "PatternError" in reply.reason or "error" in reply.reason


def test_lone_surrogates_pass(pool: WorkerPool) -> None:
    assert pool.ask({"pattern": ".$", "text": "a\ud800"}).value == "\ud800"


async def test_cancelling_kills_the_child_at_once(pool: WorkerPool) -> None:
    await pool.ask_async({"pattern": "b", "text": "abc"})
    job = asyncio.create_task(pool.ask_async(ENDLESS, 60.0))
    await asyncio.wait([job], timeout=0.2)
    start = time.monotonic()
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert (await pool.ask_async({"pattern": "b", "text": "abc"})).value == "b"
    assert time.monotonic() - start < 2


def test_a_child_that_died_between_jobs_is_replaced(pool: WorkerPool) -> None:
    before = children()
    pool.ask({"pattern": "b", "text": "abc"})
    (child,) = children() - before
    os.kill(child, 9)
    assert pool.ask({"pattern": "b", "text": "abc"}).value == "b"


def test_jobs_share_a_few_children_and_closing_leaves_none(pool: WorkerPool) -> None:
    before = children()

    async def many() -> list[object]:
        jobs = (pool.ask_async({"pattern": str(number), "text": str(number)}) for number in range(40))
        return [reply.value for reply in await asyncio.gather(*jobs)]

    assert asyncio.run(many()) == [str(number) for number in range(40)]
    assert 1 <= len(children() - before) <= 2
    pool.close()
    assert children() <= before


async def test_a_vote_does_not_wait_behind_slow_jobs(pool: WorkerPool) -> None:
    slow = [asyncio.create_task(pool.ask_async(ENDLESS, 60.0)) for _ in range(2)]
    await asyncio.wait(slow, timeout=0.3)
    start = time.monotonic()
    assert pool.ask({"pattern": "b", "text": "abc"}, 1.0).value == "b"
    assert time.monotonic() - start < 2
    for job in slow:
        job.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


def test_a_child_gets_no_keys(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-test-123")
    before = children()
    pool.ask({"pattern": "b", "text": "abc"})
    (child,) = children() - before
    assert b"sk-test-123" not in Path(f"/proc/{child}/environ").read_bytes()


def test_a_child_that_cannot_start_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ProviderError, match="cannot be started"):
        WorkerPool("regex").ask({"pattern": "b", "text": "abc"})


def test_children_end_with_their_parent() -> None:
    program = """
import os, sys
from treadle.tasks.scorers.worker import worker_pool
worker_pool("regex").ask({"pattern": "b", "text": "abc"})
print(*[p._child.pid for p in worker_pool("regex")._idle], flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    (child,) = done.stdout.split()
    deadline = time.monotonic() + 5
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        os.sched_yield()
    assert not Path(f"/proc/{child}").exists()


def test_the_parent_does_not_load_the_algebra() -> None:
    program = """
import sys
import treadle.tasks.open
from treadle.tasks.scorers.worker import worker_pool
assert worker_pool("math").ask({"a": "x+1", "b": "1+x"}, 60).value is True
heavy = {"sympy", "math_verify", "numpy", "reasoning_gym", "datasets", "pandas"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
