"""A judge's calls are part of what the end of a search costs: a test part is not opened for nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from treadle.ledger.budget import Budget
from treadle.ledger.session import Session
from treadle.models.base import Request
from treadle.search.search import search
from treadle.search.settings import SearchSettings
from treadle.tasks.base import Sample
from treadle.tasks.scorers.pairwise import PairwiseScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session

LONG = "A reference answer of some length. " * 150
SPACE = "workflows:archon:2g>f,archon:3g>f"


def judged_task() -> Task:
    samples = tuple(Sample(f"q{place}", f"Question {place}?", f"{LONG}{place}") for place in range(30))
    return Task("judged", samples, PairwiseScorer())


@asynccontextmanager
async def judged_session() -> AsyncGenerator[Session]:
    def reply(request: Request) -> str:
        asked = " ".join(turn.content for turn in request.messages)
        if "You compare two answers" in asked:
            return "[[A]]" if asked.rfind("short") < asked.rfind("reference answer") else "[[B]]"
        return f"short {request.draw}"

    async with scripted_session(reply) as session:
        yield session


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8, 1.3])
async def test_a_test_part_is_opened_only_where_the_judges_tokens_are_covered(share: float) -> None:
    settings = SearchSettings(test_repeat=1)
    async with judged_session() as session:
        whole = await search(session, SPACE, task=judged_task(), settings=settings)
    async with judged_session() as session:
        budget = Budget(tokens=int(share * whole.spent["tokens"]))
        report = (await search(session, SPACE, task=judged_task(), settings=settings, budget=budget)).document()
    assert report["spent"]["tokens"] <= (budget.tokens or 0)
    assert bool(report["test"]["opened"]) == bool(report["test"]["comparisons"])
    assert (report["ended_by"] == "done") == bool(report["test"]["comparisons"])
