"""Condorcet's jury theorem as a check of voting: two-valued answers, right with a known probability."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.simulated import Ability, SimulatedModel
from treadle.models.simulated_questions import simulated_questions
from treadle.operators.vote import count_votes
from treadle.testing.sessions import new_scope, recording_run
from treadle.workflows.registry import open_workflow


def majority_rate(skill: float, votes: int) -> float:
    """How often a majority of independent voters is right, exactly: every count of right votes with its weight."""
    chance = random.Random(votes)
    rate = 0.0
    for right in range(votes + 1):
        texts = ["yes"] * right + ["no"] * (votes - right)
        chance.shuffle(texts)
        result = count_votes(texts, str.__eq__)
        assert result is not None
        if texts[result.place] == "yes":
            rate += math.comb(votes, right) * skill**right * (1 - skill) ** (votes - right)
    return rate


@pytest.mark.parametrize(("skill", "votes", "rate"), [(0.65, 1, 0.65), (0.65, 5, 0.76), (0.65, 41, 0.98)])
def test_independent_voters_who_are_mostly_right_get_better_with_their_number(
    skill: float, votes: int, rate: float
) -> None:
    assert majority_rate(skill, votes) == pytest.approx(rate, abs=0.01)


def test_below_one_half_more_votes_hurt() -> None:
    rates = [majority_rate(0.45, votes) for votes in (1, 5, 41)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(0.45)
    assert rates[2] < 0.30


async def measured(spec: str, ability: Ability, questions: int = 300) -> tuple[float, int]:
    """The share of right answers of a workflow through the whole ledger, and its logical calls."""
    workflow = open_workflow(spec, folder=Path())
    right = 0
    async with recording_run(SimulatedModel(ability)) as (_, recording):
        for question in simulated_questions(7, questions):
            problem = Problem(question.text, same=lambda a, b: a.split()[-1] == b.split()[-1])
            answer = await workflow(problem, Run(new_scope(recording)))
            right += answer.split()[-1] == question.truth
        return right / questions, recording.tally.logical


async def test_votes_through_the_ledger_help_hurt_or_change_nothing_as_the_theorem_says() -> None:
    good, calls = await measured("self-consistency?n=5", Ability(skill=0.65))
    assert calls == 1500
    assert good == pytest.approx(0.765, abs=0.06)
    alone, calls = await measured("cot", Ability(skill=0.65))
    assert calls == 300
    assert alone == pytest.approx(0.65, abs=0.06)
    assert good > alone


async def test_below_one_half_votes_hurt_through_the_ledger_too() -> None:
    poor, _ = await measured("self-consistency?n=21", Ability(skill=0.4), questions=100)
    alone, _ = await measured("cot", Ability(skill=0.4), questions=100)
    assert poor < alone


async def test_with_fully_correlated_draws_nothing_is_gained() -> None:
    together = Ability(skill=0.65, correlation=1.0)
    assert (await measured("self-consistency?n=5", together, 100))[0] == (await measured("cot", together, 100))[0]
