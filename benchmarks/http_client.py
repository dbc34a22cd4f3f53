"""What a recorded call costs against a real HTTP server, next to a bare loop over the official SDK in the same run.

    python benchmarks/http_client.py [--calls 2000]

A local server answers after 100 ms, from a process of its own. Ours goes the whole way: budget, limits, retries,
cache, commit to SQLite, scoring, trace. The SDK's loop only asks, over its aiohttp transport.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import tempfile
import time
from collections.abc import Generator
from multiprocessing.connection import Connection
from pathlib import Path

from openai import AsyncOpenAI, DefaultAioHttpClient

from treadle.config import ModelSettings, Settings
from treadle.evaluation.evaluate import evaluate
from treadle.ledger.session import Session
from treadle.tasks.base import Sample
from treadle.tasks.scorers.contains import ContainsScorer
from treadle.tasks.task import Task
from treadle.testing.servers import ModelServer, Reply

LATENCY_S = 0.1


def serve(ready: Connection) -> None:
    async def run() -> None:
        async with ModelServer(lambda _: Reply("Answer: 4", delay_s=LATENCY_S)) as server:
            ready.send(server.base_url)
            await asyncio.Event().wait()

    asyncio.run(run())


@contextlib.contextmanager
def server() -> Generator[str]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def made_task(questions: int) -> Task:
    return Task(
        "made", tuple(Sample(f"q{i}", f"What is {i} + 4 - {i}?", "4") for i in range(questions)), ContainsScorer()
    )


async def treadle_run(
    url: str, workflow: str, questions: int, in_flight: int, concurrency: int | None = None
) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        models = {"m": ModelSettings("openai:bench", base_url=url, max_concurrency=in_flight)}
        async with Session(Settings(folder=Path(folder), models=models)) as session:
            wall, cpu = time.perf_counter(), time.process_time()
            report = await evaluate(session, [workflow], made_task(questions), concurrency=concurrency)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert report.rows[0].score == 1.0, report.rows[0].document()["failed"]
        return wall, cpu


async def bare_run(url: str, questions: int, votes: int, in_flight: int) -> tuple[float, float]:
    places = asyncio.Semaphore(in_flight)
    async with AsyncOpenAI(base_url=url, api_key="none", http_client=DefaultAioHttpClient(), timeout=60) as client:

        async def ask(question: int) -> str | None:
            reply = await client.chat.completions.create(
                model="bench", messages=[{"role": "user", "content": f"What is {question} + 4 - {question}?"}]
            )
            return reply.choices[0].message.content

        async def answer(question: int) -> list[str | None]:
            async with places:
                return await asyncio.gather(*(ask(question) for _ in range(votes)))

        wall, cpu = time.perf_counter(), time.process_time()
        async with asyncio.TaskGroup() as group:
            for question in range(questions):
                group.create_task(answer(question))
        return time.perf_counter() - wall, time.process_time() - cpu


async def compared(url: str, calls: int) -> None:
    await treadle_run(url, "single", 64, 64)
    await bare_run(url, 64, 1, 64)
    _, ours = await treadle_run(url, "single", calls, 256)
    _, sdk = await bare_run(url, calls, 1, 256)
    print(f"CPU per call, 256 in flight: ours {1e3 * ours / calls:.2f} ms, SDK {1e3 * sdk / calls:.2f} ms,"
          f" ratio {ours / sdk:.2f} (wanted ≤ 0.5)")  # fmt: skip
    wall, _ = await treadle_run(url, "single", 1000, 64)
    limit = LATENCY_S * 1000 / 64
    print(f"1,000 calls, 64 in flight: {wall:.2f} s, {wall / limit:.2f} × the limit of {limit:.2f} s (wanted ≤ 1.15)")
    wall, _ = await treadle_run(url, "self-consistency?n=5", 200, 5 * 64, 64)
    bare, _ = await bare_run(url, 200, 5, 64)
    print(f"self-consistency of five, 200 questions, 64 questions at once: ours {wall:.2f} s, SDK loop {bare:.2f} s,"
          f" ratio {wall / bare:.2f} (wanted ≤ 0.6)")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    asked = parser.parse_args()
    with server() as url:
        asyncio.run(compared(url, asked.calls))


if __name__ == "__main__":
    main()
