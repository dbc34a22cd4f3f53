"""The branches of a gather: each in a strand of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import copy_context
from typing import TypeVar

from treadle.ledger.strand import Strand, current_strand

T = TypeVar("T")


async def alone(branch: Awaitable[T], strand: Strand, parent: Strand) -> T | BaseException:
    """A single branch, without a task of its own: what comes of it is the same."""
    task = asyncio.current_task()
    strand.own(task)
    token = current_strand.set(strand)
    try:
        return await branch
    except Exception as error:  # noqa: BLE001  a branch may raise anything, and the caller says what becomes of it
        return error
    except asyncio.CancelledError:
        if task is None or task.cancelling():
            raise
        return asyncio.CancelledError()
    finally:
        current_strand.reset(token)
        parent.join([strand])


def start(branch: Awaitable[T], strand: Strand) -> asyncio.Task[T]:
    """A branch in a task of its own."""

    async def follow() -> T:
        strand.own(asyncio.current_task())
        current_strand.set(strand)
        return await branch

    return asyncio.get_running_loop().create_task(follow(), context=copy_context())


def outcome_of(task: asyncio.Task[T]) -> T | BaseException:
    """What came of a branch that is done."""
    if task.cancelled():
        return asyncio.CancelledError()
    return task.exception() or task.result()
