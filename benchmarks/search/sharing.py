"""Structures that share what they have in common pay for it once: is what they pay what `distinct_calls` predicts?

Through the ledger, with scripted models that answer by the book; labelled as such, for nothing here is a real model.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from random import Random

from treadle.ledger.cast import Cast
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.search.spaces.open import open_space
from treadle.testing.components import by_the_book
from treadle.testing.sessions import new_scope, scripted_session
from treadle.workflows.archon.one_line import parse_one_line
from treadle.workflows.archon.structure import distinct_calls

MODELS = 10


def nobody(role: str) -> None:
    """No role is named."""


async def paid_and_predicted(structures: int, seed: int) -> tuple[int, int, int]:
    """Logical, paid and predicted calls of random valid structures on one question."""
    space = open_space("archon", Path()).structures()
    chosen = [space[place] for place in Random(seed).sample(range(len(space)), structures)]
    async with scripted_session({f"m{place}": by_the_book for place in range(1, MODELS + 1)}) as session:
        models = tuple(session.aliases)
        recording = await session.record("benchmark", cast=Cast(models))
        for structure in chosen:
            await structure.workflow(Problem("Why?"), Run(new_scope(recording)))
        cast = [parse_one_line(each.name.removeprefix("archon:")).cast(models, nobody) for each in chosen]
        return recording.tally.logical, recording.tally.paid, distinct_calls(cast, "Why?")


def main(*, quick: bool) -> bool:
    """Print the figures; whether what was paid is what was predicted."""
    structures = 100 if quick else 600
    began = time.perf_counter()
    logical, paid, predicted = asyncio.run(paid_and_predicted(structures, seed=1))
    print(f"SHARING  {structures} random valid structures of the space archon, one question, scripted models")
    equal = "equal" if paid == predicted else "NOT EQUAL"
    print(f"  logical {logical}, paid {paid}, predicted by distinct_calls {predicted}: {equal}")
    print(f"  shared {100 * (1 - paid / logical):.0f} % of the calls; {time.perf_counter() - began:.1f} s")
    return paid == predicted
