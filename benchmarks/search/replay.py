"""A finished search, replayed from its store: how long does a logical call take then?

On the simulated surface, through the whole of `treadle.search`; the regret, no part of a search, is not worked out.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from treadle.config import Settings, StoreSettings
from treadle.ledger.session import Session
from treadle.search.report import SearchReport
from treadle.search.search import search
from treadle.search.settings import SearchSettings
from treadle.tasks.open import open_task
from treadle.tasks.simulated import simulated_models
from treadle.tasks.task import Task

LIMIT_MS = 0.2


async def searched(store: str, structures: int, questions: int) -> tuple[SearchReport, float]:
    """One search, and its seconds of processor time."""
    spec = f"simulated:archon?seed=1&search={questions}"
    known = open_task(spec, folder=Path())
    task = Task(known.name, known.samples, known.scorer, shares=known.shares)
    async with Session(Settings(store=StoreSettings(store))) as session:
        began = time.process_time()
        report = await search(
            session,
            "archon-9576",
            task=task,
            method="bayes",
            settings=SearchSettings(max_evals=structures, race=False),
            models=simulated_models(spec),
        )
        return report, time.process_time() - began


def main(*, quick: bool) -> bool:
    """Print the figures; whether a replayed call takes no longer than the limit."""
    structures, questions = (24, 6) if quick else (300, 12)
    with TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'replay.db'}"
        first, cold = asyncio.run(searched(store, structures, questions))
        second, warm = asyncio.run(searched(store, structures, questions))
    logical: int = second.spent["calls_logical"]
    per_call = 1000 * warm / logical
    print(f"REPLAY  a search of {structures} structures on {questions} search questions of the simulated surface")
    print(f"  first time {first.spent['calls_paid']} calls paid of {first.spent['calls_logical']}, {cold:.1f} s of CPU")
    again = f"{second.spent['calls_paid']} calls paid of {logical}, {warm:.1f} s of CPU"
    print(f"  again      {again}: {per_call:.3f} ms a logical call (to be {LIMIT_MS} or less)")
    same = [trial.structure for trial in first.trials] == [trial.structure for trial in second.trials]
    print(f"  the same structures in the same order: {'yes' if same else 'NO'}")
    return same and second.spent["calls_paid"] == 0 and per_call <= LIMIT_MS
