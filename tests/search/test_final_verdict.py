"""The end of a search: two comparisons in a fixed sequence."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.evaluation.statistics.paired import compare_paired
from treadle.search.verdict import Contender, against_itself, conclude, detectable


def workflow(name: str, right: int, n: int = 200) -> Contender:
    return Contender(name, np.array([1.0] * right + [0.0] * (n - right)))


def test_better_than_its_equal_it_meets_the_best() -> None:
    rows = conclude(workflow("winner", 160), workflow("cot", 120), workflow("votes", 159))
    assert [(row.against, row.workflow) for row in rows] == [("equal-cost", "cot"), ("overall", "votes")]
    assert [row.comparison.verdict for row in rows] == ["better", "not worse"]


def test_not_better_the_sequence_ends() -> None:
    rows = conclude(workflow("winner", 160), workflow("cot", 158), workflow("votes", 20))
    assert [row.against for row in rows] == ["equal-cost"]


def test_one_baseline_can_be_both() -> None:
    rows = conclude(workflow("winner", 160), workflow("cot", 120), workflow("cot", 120))
    assert [row.against for row in rows] == ["equal-cost", "overall"]
    assert rows[0].comparison == rows[1].comparison


def test_without_a_baseline_of_equal_cost_it_meets_the_best_at_once() -> None:
    assert [row.against for row in conclude(workflow("winner", 160), None, workflow("votes", 120))] == ["overall"]
    assert conclude(workflow("winner", 160), None, None) == ()


def test_a_second_opening_may_take_the_claim_back() -> None:
    winner, baseline = workflow("winner", 127), workflow("cot", 121)
    assert conclude(winner, baseline, None)[0].comparison.verdict == "better"
    again = conclude(winner, baseline, None, opened=2)[0].comparison
    assert again.verdict != "better"
    assert again.p_value == pytest.approx(2 * 0.03125)


def test_groups_and_margin_reach_the_test() -> None:
    winner, baseline = workflow("winner", 160), workflow("cot", 120)
    groups = [str(k // 40) for k in range(200)]
    row = conclude(winner, baseline, None, groups=groups, margin=7.0)[0]
    assert row.comparison == compare_paired(winner.scores, baseline.scores, groups, 7.0)


def test_a_baseline_that_wins_leaves_the_test_closed() -> None:
    (row,) = against_itself("cot")
    assert (row.workflow, row.comparison.verdict, row.comparison.n) == ("cot", "no difference", 0)


def test_what_the_test_could_have_found() -> None:
    winner, baseline = workflow("winner", 160), workflow("cot", 120)
    once, third = detectable(winner, baseline), detectable(winner, baseline, opened=3)
    assert once is not None
    assert third is not None
    assert 5 < once < third < 15
    assert (detectable(winner, baseline, groups=[str(k // 40) for k in range(200)]) or 0) > third
