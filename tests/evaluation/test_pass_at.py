"""pass@k of a measured row, and what cannot be told from the answers that there are."""

from __future__ import annotations

from typing import Any

import pytest

from treadle.errors import UserError
from treadle.evaluation.evaluate import evaluate
from treadle.evaluation.outcome import Outcome
from treadle.evaluation.pass_at import allowed_draws, pass_at_document
from treadle.models.base import Request
from treadle.tasks.base import Sample
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task
from treadle.testing.sessions import scripted_session

RIGHT = {"q0": 4, "q1": 2, "q2": 0}
"""How many of four answers are right."""


class Answers:
    """Gives each question so many right answers, then wrong ones; the third question's first call fails."""

    def __init__(self, broken: str = "") -> None:
        self.asked: dict[str, int] = {}
        self.broken = broken

    def __call__(self, request: Request) -> str:
        name = request.messages[-1].content
        count = self.asked[name] = self.asked.get(name, 0) + 1
        if name == self.broken and count == 1:
            raise RuntimeError("down")
        return "yes" if count <= RIGHT[name] else "no"


async def measured(broken: str = "", **options: Any) -> dict[str, Any]:
    samples = tuple(Sample(name, name, "yes", group="a" if name != "q2" else "b") for name in RIGHT)
    async with scripted_session({"m": Answers(broken)}) as session:
        report = await evaluate(session, ("single",), Task("t", samples, ExactScorer()), **options)
    return report.document()["results"][0]


async def test_the_chance_of_a_right_answer_among_k_grows_with_k() -> None:
    row = await measured(repeat=4, pass_at=[3, 1, 1])
    table = row["pass_at_k"]
    assert list(table) == ["1", "3"]
    assert table["1"]["score"] == pytest.approx(row["score"]) == pytest.approx((1 + 0.5 + 0) / 3)
    assert table["3"]["score"] == pytest.approx((1 + 1 + 0) / 3)
    for found in table.values():
        assert found["n"] == 3
        assert found["ci95"][0] <= found["score"] <= found["ci95"][1]


@pytest.mark.parametrize(("score", "right"), [(0.99, 0.0), (1.0, 1.0)])
def test_only_a_whole_score_is_a_right_answer(score: float, right: float) -> None:
    outcome = Outcome("q", "q", 0, "ok", score, "", "", 1, 1, None, 0.0)
    assert pass_at_document([outcome], [1])["pass_at_k"]["1"]["score"] == right


async def test_a_question_whose_provider_failed_counts_where_enough_answers_are_left() -> None:
    row = await measured("q1", repeat=4, pass_at=[3, 4])
    assert {k: found["n"] for k, found in row["pass_at_k"].items()} == {"3": 3, "4": 2}
    assert row["pass_at_k"]["4"]["score"] == 0.5


async def test_nothing_is_said_where_nothing_was_asked() -> None:
    assert "pass_at_k" not in await measured()


@pytest.mark.parametrize(
    ("asked", "repeat", "words"), [((3,), 2, "--repeat 3"), ((0,), 2, "from 2 answers"), ((2,), 1, "pass@2")]
)
async def test_more_than_is_answered_is_refused_before_a_call(asked: tuple[int, ...], repeat: int, words: str) -> None:
    model = Answers()
    async with scripted_session({"m": model}) as session:
        with pytest.raises(UserError, match=words):
            await evaluate(
                session,
                ("single",),
                Task("t", (Sample("q0", "q0", "yes"),), ExactScorer()),
                repeat=repeat,
                pass_at=asked,
            )
    assert not model.asked
    assert allowed_draws([2, 1, 2], 2) == (1, 2)
