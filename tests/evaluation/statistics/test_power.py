"""What a number of questions can show."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray
from treadle.evaluation.statistics.paired import compare_paired
from treadle.evaluation.statistics.power import (
    detectable_after,
    detectable_difference,
    independent_discordance,
    mcnemar_power,
    needed_after,
    samples_needed,
)


@pytest.mark.parametrize("effect", [2.0, 5.0, 10.0, 25.0, 60.0])
@pytest.mark.parametrize("repeats", [1, 3])
def test_the_two_questions_have_one_answer(effect: float, repeats: int) -> None:
    n = samples_needed(effect, repeats=repeats)
    enough, short = detectable_difference(n, repeats=repeats), detectable_difference(n // 2, repeats=repeats)
    assert enough is not None
    assert enough <= effect
    assert enough == pytest.approx(effect, rel=0.15)
    assert short is None or short > effect


@pytest.mark.parametrize(("effect", "discordance"), [(10.0, None), (15.0, 0.2)])
def test_the_promise_is_kept_by_the_test_itself(effect: float, discordance: float | None) -> None:
    rng = np.random.default_rng(6)
    n = samples_needed(effect, discordance=discordance)
    share = independent_discordance(effect / 100, 0.7) if discordance is None else discordance
    wins = (share + effect / 100) / 2
    found = 0
    for _ in range(800):
        kind = rng.choice(3, n, p=[wins, share - wins, 1 - share])
        found += compare_paired(np.where(kind == 0, 1.0, 0.0), np.where(kind == 1, 1.0, 0.0)).verdict == "better"
    assert found / 800 == pytest.approx(0.8, abs=0.045)
    assert mcnemar_power(n, effect / 100, share) == pytest.approx(found / 800, abs=0.045)


def test_known_sizes() -> None:
    assert samples_needed(5) == pytest.approx(1291, rel=0.05)
    assert samples_needed(0.1) == pytest.approx(1e6 * 2.8**2 * 0.42, rel=0.02)
    assert samples_needed(100) == 6
    assert samples_needed(5, discordance=0.1) < samples_needed(5)
    assert samples_needed(5, power=0.9) > samples_needed(5)
    assert samples_needed(5, repeats=3) < samples_needed(5)


def test_too_few_questions_can_show_nothing() -> None:
    assert detectable_difference(0) is None
    assert detectable_difference(5) is None
    assert detectable_difference(6) is not None
    assert detectable_difference(40, discordance=0.02) is None


def test_more_questions_or_an_earlier_opening_show_more() -> None:
    sizes = [detectable_difference(n) or 100.0 for n in (20, 40, 100, 400, 1600)]
    assert sizes == sorted(sizes, reverse=True)
    again = detectable_difference(400, alpha=0.05 / 3)
    assert again is not None
    assert again > sizes[3]


def test_after_the_test_the_spread_it_showed_counts() -> None:
    rng = np.random.default_rng(7)
    differences = (rng.random(400) < 0.77).astype(float) - (rng.random(400) < 0.70)
    after = detectable_after(differences)
    assert after == pytest.approx(detectable_difference(400), rel=0.12)
    assert detectable_after([0.5]) is None
    unanimous = detectable_after([0.0] * 400)
    assert unanimous is not None
    assert 0.5 < unanimous < 1.0


def test_as_many_questions_as_were_called_for_show_that_an_equal_is_not_worse() -> None:
    rng = np.random.default_rng(8)

    def sides(n: int) -> tuple[FloatArray, FloatArray]:
        kind = rng.choice(3, n, p=[0.1, 0.1, 0.8])
        return np.where(kind == 0, 1.0, 0.0), np.where(kind == 1, 1.0, 0.0)

    first, second = sides(50)
    margin = 5.0
    needed = needed_after(first - second, margin)
    assert needed is not None
    exact = needed_after(np.repeat([1.0, -1.0, 0.0], [100, 100, 800]), margin)
    assert exact is not None
    shown = sum(compare_paired(*sides(exact), margin=margin).ci95[0] > -margin for _ in range(800))
    assert shown / 800 == pytest.approx(0.8, abs=0.06)
    assert needed == pytest.approx(exact, rel=0.5)
    assert needed_after(first - second, margin / 2) == pytest.approx(4 * needed, abs=4)
    assert (needed_after([0.5], 2.0), needed_after(first - second, 0.0)) == (None, None)


@pytest.mark.parametrize(
    ("effect", "discordance", "words"),
    [(0, None, "above 0"), (-3, None, "above 0"), (101, None, "at most 100"), (5, 0.01, "raise the discordance")],
)
def test_impossible_effects_are_refused(effect: float, discordance: float | None, words: str) -> None:
    with pytest.raises(UserError, match=words):
        samples_needed(effect, discordance=discordance)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(UserError, match="base must be a fraction"):
        detectable_difference(40, base=70)
    with pytest.raises(UserError, match="power must lie strictly"):
        samples_needed(5, power=1.0)
    with pytest.raises(UserError, match="0 repeats"):
        samples_needed(5, repeats=0)
    with pytest.raises(UserError, match="more than 100,000,000 questions"):
        samples_needed(0.001)
