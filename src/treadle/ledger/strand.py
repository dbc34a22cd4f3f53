"""Strands: which asks follow which, so that draws, order and latency are the same at any concurrency.

A strand is a piece of code that runs in sequence. The root strand is the workflow itself; `Run.gather` starts one
for each branch, numbered in program order. Code that starts its own asyncio tasks gets a strand for each of them,
numbered in the order of their first ask.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

Path = tuple[int, ...]
_AFTER_EVERYTHING = 1_000_000_000


class Strand:
    """One sequence of asks.

    Attributes:
        path: Its place in program order.
        elapsed: Seconds since the question began, along this strand, had every call been made fresh.
        owned: Whether it was numbered by program order (root, gather) rather than by first use.
    """

    __slots__ = (
        "_counts",
        "_index",
        "_owner",
        "_start",
        "_width",
        "children",
        "domain",
        "asked",
        "elapsed",
        "owned",
        "parent",
        "path",
        "scope",
        "sequence",
        "tasks",
    )

    def __init__(
        self,
        scope: object,
        parent: Strand | None = None,
        *,
        place: Path = (),
        index: int = 0,
        width: int = 1,
        owner: asyncio.Task[Any] | None = None,
    ) -> None:
        self.scope = scope
        self.parent = parent
        self.owned = True
        self.domain = self
        self.sequence = 0
        self.children: list[Strand] = []
        self.tasks = 0
        self.asked: dict[bytes, int] = {}
        self._owner = owner
        self._counts: dict[bytes, int] = {}
        self._index = index
        self._width = width
        self._start: dict[bytes, int] = dict(parent.domain._counts) if parent else {}
        self.path: Path = (*parent.path, *place) if parent else ()
        self.elapsed: float = parent.elapsed if parent else 0.0

    def of_task(self, task: asyncio.Task[Any] | None) -> Strand:
        """The strand of the running task: this one, or a new one below it when another task uses it."""
        if self._owner is task:
            self._join_finished()
            return self
        strand = Strand(self.scope, self, place=(_AFTER_EVERYTHING + self.tasks,), owner=task)
        self.tasks += 1
        strand.owned = False
        strand.domain = self.domain
        self.children.append(strand)
        current_strand.set(strand)
        return strand

    def next_place(self) -> Path:
        """The place in program order of the next thing this strand does."""
        self.sequence += 1
        return (*self.path, self.sequence)

    @property
    def concurrent(self) -> bool:
        """Whether draws here depend on which of several tasks came first."""
        return not self.owned or self.domain.tasks > 0

    def own(self, task: asyncio.Task[Any] | None) -> None:
        """Say which task this strand's code runs in."""
        self._owner = task

    def occurrence(self, base: bytes) -> int:
        """How often this strand asked the same before; counts this time."""
        count = self.asked.get(base, 0)
        self.asked[base] = count + 1
        return count

    def implicit_draw(self, base: bytes) -> int:
        """The draw of an ask that names none: the k-th of a kind is draw k; gathered branches take turns."""
        domain = self.domain
        count = domain._counts.get(base, 0)
        domain._counts[base] = count + 1
        return domain._draw(base, count)

    def _draw(self, base: bytes, occurrence: int) -> int:
        if self.parent is None:
            return occurrence
        place = self._start.get(base, 0) + self._index + self._width * occurrence
        return self.parent.domain._draw(base, place)

    def branches(self, width: int) -> list[Strand]:
        """Strands for the branches of a gather, in order."""
        self.sequence += 1
        return [
            Strand(self.scope, self, place=(self.sequence, index), index=index, width=width) for index in range(width)
        ]

    def join(self, branches: list[Strand]) -> None:
        """Go on after all branches of a gather have ended."""
        counts = self.domain._counts
        for branch in branches:
            branch.finish()
            self.elapsed = max(self.elapsed, branch.elapsed)
        for base in {base for branch in branches for base in branch._counts}:
            most = max(branch._counts.get(base, 0) for branch in branches)
            counts[base] = counts.get(base, 0) + most * len(branches)

    def finish(self) -> float:
        """Seconds of the whole strand with everything that it started."""
        for child in self.children:
            self.elapsed = max(self.elapsed, child.finish())
        self.children.clear()
        return self.elapsed

    def _join_finished(self) -> None:
        if not self.children:
            return
        running: list[Strand] = []
        for child in self.children:
            if child._owner is not None and child._owner.done():
                self.elapsed = max(self.elapsed, child.finish())
            else:
                running.append(child)
        self.children = running


current_strand: ContextVar[Strand | None] = ContextVar("treadle_strand", default=None)
