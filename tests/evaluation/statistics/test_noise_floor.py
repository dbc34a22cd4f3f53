"""The noise floor against what fresh runs really do."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.evaluation.statistics.clusters import FloatArray
from treadle.evaluation.statistics.noise import noise_floor


@pytest.mark.parametrize(("n", "repeats"), [(40, 5), (200, 2), (200, 5)])
def test_nineteen_of_twenty_pairs_of_fresh_runs_lie_within(n: int, repeats: int) -> None:
    rng = np.random.default_rng(n)
    within: list[float] = []
    for _ in range(40):
        skill = rng.beta(1.4, 0.6, n)
        floor = noise_floor(rng.binomial(1, skill[:, None], (n, repeats)).astype(float))
        assert floor is not None
        fresh: FloatArray = np.where(rng.random((2, 500, n)) < skill, 100.0, 0.0).mean(axis=2)
        apart: FloatArray = np.abs(fresh[0] - fresh[1])
        within.append(float(np.mean(apart <= floor + 1e-9)))
    assert np.mean(within) == pytest.approx(0.95, abs=0.015)


def test_a_workflow_that_never_varies_has_none() -> None:
    assert noise_floor([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]) == 0.0


def test_one_repeat_says_nothing() -> None:
    assert noise_floor([[1.0], [0.0]]) is None
    assert noise_floor([[1.0, np.nan], [np.nan, 0.0]]) is None
    assert noise_floor([]) is None


def test_infra_failures_leave_the_rest_standing() -> None:
    rng = np.random.default_rng(9)
    table = rng.integers(0, 2, (300, 5)).astype(float)
    holes = np.where(rng.random(table.shape) < 0.1, np.nan, table)
    assert noise_floor(holes) == pytest.approx(noise_floor(table), rel=0.1)


def test_hardly_any_repeats_promise_little() -> None:
    rows = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0], *[[1.0, 1.0]] * 16]
    few, many = noise_floor(rows), noise_floor([row * 20 for row in rows])
    assert few is not None
    assert many is not None
    assert few > 1.8 * many
    assert noise_floor([[1.0, 0.0]]) == 100.0
