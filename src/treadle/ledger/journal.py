"""The store off the event loop: look-ups and writes gathered into batches, each in one short transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Generic, TypeVar

from treadle.redaction import redact
from treadle.store.base import Batch, CallRecord, EventRecord, ExecutionRecord, SampleRecord, ScoreRecord, Store

Item = TypeVar("Item")
Result = TypeVar("Result")
Record = CallRecord | ExecutionRecord | SampleRecord | ScoreRecord | EventRecord
_LARGEST = 512
_FIRST_WINS = (CallRecord, ExecutionRecord)


class _Batcher(Generic[Item, Result]):
    """Gathers items that arrive while a batch is under way into the next one."""

    def __init__(self, work: Callable[[list[Item]], Awaitable[list[Result]]]) -> None:
        self._work = work
        self._items: list[Item] = []
        self._answers: list[asyncio.Future[Result]] = []
        self._task: asyncio.Task[None] | None = None

    def put(self, item: Item) -> asyncio.Future[Result]:
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._items.append(item)
        self._answers.append(answer)
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        return answer

    async def _drain(self) -> None:
        while self._items:
            items, self._items = self._items[:_LARGEST], self._items[_LARGEST:]
            answers, self._answers = self._answers[:_LARGEST], self._answers[_LARGEST:]
            try:
                results = await self._work(items)
            except Exception as error:  # noqa: BLE001  every waiter must learn of it
                for answer in answers:
                    if not answer.done():
                        answer.set_exception(error)
                continue
            for answer, result in zip(answers, results, strict=True):
                if not answer.done():
                    answer.set_result(result)
        self._task = None

    async def flush(self) -> None:
        while self._task is not None:
            await asyncio.shield(self._task)


class Journal:
    """Asynchronous face of a `Store`; one thread reads, one writes.

    Args:
        store: The blocking store; it stays its owner's to close.
        secrets: Texts that must never be kept; they are cut out of whatever is written.
    """

    def __init__(self, store: Store, secrets: frozenset[str] = frozenset()) -> None:
        self.store = store
        self.secrets = secrets
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="treadle-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="treadle-write")
        self._lookups: _Batcher[str, CallRecord | None] = _Batcher(self._look_up)
        self._executions: _Batcher[str, ExecutionRecord | None] = _Batcher(self._look_up_executions)
        self._writes: _Batcher[tuple[Record, ...], bool] = _Batcher(self._write)

    def call(self, key: str) -> asyncio.Future[CallRecord | None]:
        """The record of a finished call, or ``None``."""
        return self._lookups.put(key)

    def execution(self, key: str) -> asyncio.Future[ExecutionRecord | None]:
        """The record of a finished execution, or ``None``."""
        return self._executions.put(key)

    def write(self, *records: Record) -> asyncio.Future[bool]:
        """Commit records together; the future is done when they are safe from a kill.

        They are written even if whoever waits for it is cancelled. The result is false when a call or an
        execution among them was there already, so that its first record stays.
        """
        return self._writes.put(tuple(map(self._clean, records)) if self.secrets else records)

    def cleaned(self, text: str) -> str:
        """A text without secrets."""
        return redact(text, self.secrets) if self.secrets else text

    def _clean(self, record: Record) -> Record:
        dirty: dict[str, str | bytes] = {}
        for each in fields(record):
            value = getattr(record, each.name)
            if isinstance(value, str):
                clean: str | bytes = redact(value, self.secrets)
            elif isinstance(value, bytes):
                clean = redact(value.decode(), self.secrets).encode()
            else:
                continue
            if clean != value:
                dirty[each.name] = clean
        return replace(record, **dirty) if dirty else record  # pyright: ignore[reportArgumentType]  each in its own type

    async def read(self, question: Callable[[Store], Result]) -> Result:
        """Ask the store anything, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._reader, question, self.store)

    async def change(self, change: Callable[[Store], Result]) -> Result:
        """Change the store outside of batches, such as a run's own record."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, change, self.store)

    async def aclose(self) -> None:
        """Write what is waiting, then stop both threads."""
        await self._writes.flush()
        await self._lookups.flush()
        await self._executions.flush()
        self._reader.shutdown(wait=True)
        self._writer.shutdown(wait=True)

    async def _look_up(self, keys: list[str]) -> list[CallRecord | None]:
        found = await self.read(lambda store: store.calls(keys))
        return [found.get(key) for key in keys]

    async def _look_up_executions(self, keys: list[str]) -> list[ExecutionRecord | None]:
        found = await self.read(lambda store: store.executions(keys))
        return [found.get(key) for key in keys]

    async def _write(self, items: list[tuple[Record, ...]]) -> list[bool]:
        records = [record for item in items for record in item]
        batch = Batch(
            calls=[r for r in records if isinstance(r, CallRecord)],
            samples=[r for r in records if isinstance(r, SampleRecord)],
            scores=[r for r in records if isinstance(r, ScoreRecord)],
            events=[r for r in records if isinstance(r, EventRecord)],
            executions=[r for r in records if isinstance(r, ExecutionRecord)],
        )
        present = await self.change(lambda store: store.write(batch))
        if not present:
            return [True] * len(items)
        return [not any(isinstance(r, _FIRST_WINS) and r.key in present for r in item) for item in items]
