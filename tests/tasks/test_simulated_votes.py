"""The true scores of plain simulated questions: Condorcet's numbers, and what is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.evaluation.evaluate import evaluate
from treadle.models.simulated import Ability
from treadle.search.search import search
from treadle.tasks.open import open_task
from treadle.tasks.simulated_votes import SimulatedTask, majority
from treadle.testing.sessions import scripted_session
from treadle.workflows.registry import open_workflow

HERE = Path()


@pytest.mark.parametrize(
    ("skill", "votes", "rate"), [(0.65, 1, 0.65), (0.65, 5, 0.765), (0.65, 41, 0.976), (0.45, 41, 0.259), (0.6, 2, 0.6)]
)
def test_independent_votes_come_to_condorcets_numbers(skill: float, votes: int, rate: float) -> None:
    assert majority(Ability(skill=skill), votes, 0.0) == pytest.approx(rate, abs=0.001)


def test_votes_that_share_their_luck_gain_less_and_nothing_in_the_end() -> None:
    rates = [majority(Ability(skill=0.65, correlation=rho), 9, 0.0) for rho in (0.0, 0.3, 0.7, 1.0)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(0.65)


@pytest.mark.parametrize("name", ["single", "self-consistency?n=5", "self-consistency?n=4"])
async def test_a_true_score_is_what_many_questions_measure(name: str) -> None:
    model = "simulated:llm?skill=0.65&correlation=0.4&seed=5"
    spec = "simulated:llm?seed=9&spread=0.5&test=2930"
    task = open_task(spec, folder=HERE)
    assert isinstance(task, SimulatedTask)
    true = task.true_score(open_workflow(name, folder=HERE), [model])
    async with scripted_session({}) as session:
        report = await evaluate(session, [name], task, models=(model,))
    low, high = report.rows[0].ci95 or (0.0, 0.0)
    assert true is not None
    assert low - 0.01 <= true <= high + 0.01


def test_what_is_not_known_is_not_claimed() -> None:
    task = open_task("simulated:llm?answers=4", folder=HERE)
    assert isinstance(task, SimulatedTask)
    for name in ("debate", "self-consistency?n=5"):
        assert task.true_score(open_workflow(name, folder=HERE), ["simulated:llm?skill=0.6"]) is None
    assert task.true_score(open_workflow("single", folder=HERE), ["openai:gpt-5"]) is None
    assert task.true_score(open_workflow("single", folder=HERE), []) is None


async def test_a_search_over_known_workflows_says_its_regret() -> None:
    async with scripted_session({}) as session:
        report = await search(
            session,
            "workflows:single,self-consistency?n=9",
            task="simulated:llm?seed=2",
            models=("simulated:llm?skill=0.7&seed=2",),
        )
    best = report.document()["best"]["workflow"]
    gain = 100 * (majority(Ability(skill=0.7), 9, 0.0) - 0.7)
    assert report.document()["regret"] == pytest.approx(gain if best == "single" else 0.0)
