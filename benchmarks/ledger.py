"""Recorded and replayed calls a second, and the memory of 10,000 questions in flight.

    python benchmarks/ledger.py [--questions 10000]

A scripted model without delay answers `single` on a task made here. Cold: every call is made, paid, committed and
scored. Replayed: the same evaluation again, from the store. In flight: 10,000 questions wait for a model at once.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from treadle.config import ModelSettings, Settings
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.report import Report
from treadle.ledger.session import Session
from treadle.models.base import Request
from treadle.models.scripted import ScriptedModel
from treadle.tasks.base import Sample
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task


def last_word(request: Request) -> str:
    return request.messages[-1].content.rsplit(" ", 1)[-1]


def made_task(questions: int) -> Task:
    samples = tuple(Sample(f"q{i}", f"Repeat the last word of this sentence: w{i}", f"w{i}") for i in range(questions))
    return Task("made", samples, ExactScorer())


async def evaluated(folder: Path, questions: int, concurrency: int, delay_s: float = 0.0) -> tuple[float, Report]:
    async def later(request: Request) -> str:
        await asyncio.sleep(delay_s)
        return last_word(request)

    model = ScriptedModel(later if delay_s else last_word, "bench")
    task = made_task(questions)
    settings = Settings(folder=folder, models={"m": ModelSettings("m", max_concurrency=concurrency)})
    async with Session(settings, models={"m": model}) as session:
        started = time.process_time()
        report = await evaluate(session, ["single"], task, concurrency=concurrency)
        return time.process_time() - started, report


def throughput(questions: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for label, least in (("cold", 3000), ("replayed", 8000)):
            cpu, report = asyncio.run(evaluated(Path(folder), questions, 256))
            (row,) = report.rows
            assert row.score == 1.0
            rate = questions / cpu
            print(f"{label:9} {rate:8.0f} calls per CPU second ({row.seconds:.2f} s wall, wanted ≥ {least})")


def in_flight(questions: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        _, report = asyncio.run(evaluated(Path(folder), questions, questions, delay_s=20.0))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        assert report.rows[0].score == 1.0
        print(f"in flight {questions:8d} questions at once: {peak:.0f} MB peak, {base:.0f} before (wanted ≤ 600)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--memory", action="store_true", help="only the memory of questions in flight")
    asked = parser.parse_args()
    if asked.memory:
        in_flight(asked.questions)
        return
    throughput(asked.questions)
    subprocess.run([sys.executable, __file__, "--memory", "--questions", str(asked.questions)], check=True)


if __name__ == "__main__":
    main()
