"""Fewer rounds of the cycle collector while thousands of questions are in flight."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

FIRST_GENERATION = 100_000


@contextmanager
def rare_collection() -> Generator[None]:
    """Collect cycles rarely inside the block.

    A measurement keeps tens of thousands of small live objects; at the usual thresholds a third of its CPU goes into
    walking them again and again without finding a cycle.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], FIRST_GENERATION), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
