"""Warm boxes for many short programs: as many as needed, up to a width, each used again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from treadle.errors import SandboxError
from treadle.sandbox.base import ExecResult, Limits
from treadle.sandbox.cells import BoxGoneError, Cell, Spawn
from treadle.sandbox.users import give_slot, take_slot


class Pool:
    """Cells that are started when needed, up to a width, and kept.

    Args:
        spawn: Starts a box.
        width: Most cells at one time.
    """

    def __init__(self, spawn: Spawn, width: int) -> None:
        self._spawn = spawn
        self._width = width
        self._turn = asyncio.Semaphore(width)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: list[Cell] = []
        self._cells: set[Cell] = set()
        self._gone = asyncio.Event()
        self._closed = False

    async def run(
        self, plan: Callable[[int], Mapping[str, Any]], payload: bytes, stdin: bytes, limits: Limits
    ) -> ExecResult:
        """Run a program in a cell that is free.

        Args:
            plan: The plan for the slot that it will run in.
            payload: Its files; see `treadle.sandbox.plans.packed`.
            stdin: What it can read.
            limits: What it may take; the wait for a cell does not count.

        Raises:
            SandboxError: No cell can be started, or the pool is closed.
        """
        self._here()
        async with self._turn:
            cell = await self._cell()
            try:
                return await cell.run(plan(cell.slot), payload, stdin, limits)
            except BoxGoneError:
                self._drop(cell)
                cell = await self._start()
                return await cell.run(plan(cell.slot), payload, stdin, limits)
            finally:
                if cell.alive and not self._closed:
                    self._idle.append(cell)
                else:
                    self._drop(cell)

    def _here(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is None or self._loop.is_closed():
            self._loop, self._turn, self._gone = loop, asyncio.Semaphore(self._width), asyncio.Event()
        elif self._loop is not loop:
            raise SandboxError("this sandbox belongs to another event loop; open one for each loop")

    async def _cell(self) -> Cell:
        """A cell that waits, or a new one; one that died meanwhile is put away."""
        while self._idle and not self._closed:
            cell = self._idle.pop()
            if cell.alive:
                return cell
            self._drop(cell)
        return await self._start()

    async def _start(self) -> Cell:
        if self._closed:
            raise SandboxError("the sandbox is closed")
        slot = take_slot()
        try:
            cell = Cell(self._spawn, slot)
        except BaseException:
            give_slot(slot)
            raise
        self._cells.add(cell)
        try:
            await cell.ready()
        except BaseException:
            self._drop(cell)
            raise
        return cell

    def _drop(self, cell: Cell) -> None:
        if cell in self._cells:
            self._cells.discard(cell)
            cell.close()
            give_slot(cell.slot)
        if not self._cells:
            self._gone.set()

    async def aclose(self) -> None:
        """End all cells, running ones too, and take no more work; may be called twice."""
        self._closed = True
        for cell in self._idle:
            self._drop(cell)
        self._idle.clear()
        for cell in self._cells:
            cell.kill()
        while self._cells:
            # Each is put away by the call that runs in it, which learns now that its box is gone.
            self._gone.clear()
            await self._gone.wait()
