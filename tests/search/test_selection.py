"""From finalists to a winner, and the baselines it answers to."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.errors import UserError
from treadle.search.racing import Race, Standing
from treadle.search.selection import Measured, choose_cheapest, choose_winner, equal_cost, finalists, overall


def measured(name: str, right: int, cost: float, n: int = 100) -> Measured:
    return Measured(name, np.array([1.0] * right + [0.0] * (n - right)), cost)


def test_the_best_that_went_to_the_end_are_finalists() -> None:
    standing = [
        Standing("first", 60, 60, 0.8, 0.1, None),
        Standing("cut short", 40, 40, 0.9, 0.05, None),
        *(Standing(f"s{k}", 60, 60, 0.7, -0.01 * k, None) for k in range(9)),
        Standing("stopped", 60, 60, 0.2, -0.5, 60),
        Standing("never scored", 60, 0, None, None, None),
    ]
    assert finalists(standing) == ("first", *(f"s{k}" for k in range(7)))
    assert finalists(standing, limit=2) == ("first", "s0")
    assert finalists(Race(block=3).standing()) == ()


def test_within_one_standard_error_the_cheaper_wins() -> None:
    best, near, far = measured("best", 80, 10.0), measured("near", 79, 2.0), measured("far", 60, 0.1)
    assert choose_winner([best, near, far]).name == "near"
    assert choose_winner([best, far]).name == "best"


def test_the_error_is_that_of_the_pairs_not_of_the_means() -> None:
    """Six questions lost and none won is far outside the paired error, though the means' own errors overlap."""
    assert choose_winner([measured("best", 80, 10.0), measured("six behind", 74, 1.0)]).name == "best"
    rng = np.random.default_rng(1)
    shuffled = Measured("six behind, elsewhere", rng.permutation(measured("", 74, 0).scores), 1.0)
    assert choose_winner([measured("best", 78, 10.0), shuffled]).name == "six behind, elsewhere"


def test_ties_go_to_the_better_then_to_the_earlier() -> None:
    assert choose_winner([measured("a", 79, 1.0), measured("b", 80, 1.0)]).name == "b"
    assert choose_winner([measured("a", 80, 1.0), measured("b", 80, 1.0)]).name == "a"


def test_infra_failures_leave_the_pairs() -> None:
    holes = measured("holes", 80, 1.0).scores.copy()
    holes[:50] = np.nan
    lost = Measured("lost", np.full(100, np.nan), 0.01)
    assert choose_winner([measured("best", 80, 5.0), Measured("holes", holes, 1.0), lost]).name == "holes"
    with pytest.raises(UserError, match="no structure was scored"):
        choose_winner([lost])


def test_groups_are_the_unit_of_the_error() -> None:
    best, behind = measured("best", 80, 10.0), measured("behind", 74, 1.0)
    groups = ["lost together" if 74 <= k < 80 else str(k) for k in range(100)]
    assert choose_winner([best, behind]).name == "best"
    assert choose_winner([best, behind], groups).name == "behind"


def test_the_cheapest_within_the_margin() -> None:
    rows = [measured("best", 80, 10.0), measured("two behind", 78, 1.0), measured("six behind", 74, 0.5)]
    assert choose_cheapest(rows, margin=2.0).name == "two behind"
    assert choose_cheapest(rows, margin=6.0).name == "six behind"


def test_baselines_of_equal_cost_and_overall() -> None:
    single, cot, votes = measured("single", 60, 1.0), measured("cot", 70, 1.5), measured("votes", 80, 5.0)
    assert overall([single, cot, votes]) is votes
    assert equal_cost([single, cot, votes], 1.5) is cot
    assert equal_cost([single, cot, votes], 1.49) is cot
    assert equal_cost([single, cot, votes], 1.2) is single
    assert equal_cost([single, cot, votes], 0.5) is None
    assert overall([]) is None
    assert overall([measured("dear", 70, 2.0), cot]) is cot
