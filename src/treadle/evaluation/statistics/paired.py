"""Paired comparisons: one test, the interval that agrees with it, one of five verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray, Floats, cluster_means, is_binary, score_array
from treadle.evaluation.statistics.mcnemar import mcnemar_bounds, mcnemar_p
from treadle.evaluation.statistics.signflip import flip_bounds, flips

Verdict = Literal["better", "worse", "no difference", "not worse", "inconclusive"]
ALPHA = 0.05
OPEN = 1e-6


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a paired test says of the first against the second.

    ``n`` counts the questions that both sides scored. ``difference`` (first − second, mean over clusters) and ``ci95``
    are points, −100 to 100. ``p_value`` and ``ci95`` include every correction asked for: p < 0.05 exactly when 0 lies
    outside the interval. Without a pair the difference is 0 and the interval everything.
    """

    n: int
    difference: float
    ci95: tuple[float, float]
    p_value: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Pairs:
    """Cluster means of both sides, as fractions, over the ``n`` questions that both scored."""

    n: int
    first: FloatArray
    second: FloatArray

    @property
    def differences(self) -> FloatArray:
        """First − second, one per cluster."""
        return self.first - self.second


def verdict(ci: tuple[float, float], margin: float = 2.0) -> Verdict:
    """The first verdict that holds.

    Args:
        ci: Interval of the difference, in points.
        margin: Points that do not matter.
    """
    low, high = ci
    if low > 0:
        return "better"
    if high < 0:
        return "worse"
    if low > -margin:
        return "no difference" if high < margin else "not worse"
    return "inconclusive"


def pair(a: Floats, b: Floats, groups: Sequence[Hashable] | None = None) -> Pairs:
    """Pair two score arrays: infra failures on either side leave, then groups are averaged.

    Args:
        a: One fraction 0–1 per question (a mean over repeats), NaN for infra.
        b: The same questions in the same order.
        groups: One label per question.

    Raises:
        UserError: The lengths differ, or a score lies outside 0–1.
    """
    first, second = score_array(a), score_array(b)
    if len(first) != len(second):
        raise UserError(f"a paired comparison needs the same questions on both sides, got {len(first)}, {len(second)}")
    if groups is not None and len(groups) != len(first):
        raise UserError(f"{len(first)} questions but {len(groups)} group labels; give one label per question")
    scored = ~(np.isnan(first) | np.isnan(second))
    kept = None if groups is None else [label for label, keep in zip(groups, scored, strict=True) if keep]
    return Pairs(int(scored.sum()), cluster_means(first[scored], kept).means, cluster_means(second[scored], kept).means)


def compare_paired(
    a: Floats, b: Floats, groups: Sequence[Hashable] | None = None, margin: float = 2.0, multiplier: int = 1
) -> Comparison:
    """Compare two workflows on the same questions.

    McNemar's exact test when every cluster is 0 or 1 on both sides, else the sign-flip permutation test on the
    differences of cluster means: every flip up to 15 clusters, 32,767 seeded ones beyond, so the answer never varies.

    Args:
        a: One fraction 0–1 per question, a mean over repeats; NaN for an infra failure.
        b: The same questions in the same order.
        groups: One label per question; questions of one group are one cluster.
        margin: Points that do not matter.
        multiplier: The how-manieth look at these questions this is, k: p is multiplied by k, the level is 1 − 0.05/k.

    Raises:
        UserError: The lengths differ, or a score lies outside 0–1.
    """
    if multiplier < 1:
        raise UserError(f"a multiplier of {multiplier} is not a count of openings; give 1 or more")
    pairs = pair(a, b, groups)
    p_value, low, high = paired_test(pairs, ALPHA / multiplier)
    adjusted = min(1.0, multiplier * p_value)
    ci95 = agree((100.0 * low, 100.0 * high), pairs, significant=p_value < ALPHA / multiplier)
    return Comparison(pairs.n, mean_points(pairs), ci95, adjusted, verdict(ci95, margin))


def mean_points(pairs: Pairs) -> float:
    """Mean difference over clusters, in points; 0 without a pair."""
    return 100.0 * float(pairs.differences.mean()) if pairs.n else 0.0


def paired_test(pairs: Pairs, alpha: float) -> tuple[float, float, float]:
    """The uncorrected p-value and the bounds at level 1 − alpha, as fractions."""
    if pairs.n == 0:
        return 1.0, -1.0, 1.0
    differences = pairs.differences
    if is_binary(pairs.first) and is_binary(pairs.second):
        wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
        return (mcnemar_p(wins, losses), *mcnemar_bounds(wins, losses, len(differences), alpha))
    # Testing |d| one way round makes compare(a, b) and compare(b, a) mirror images, Monte Carlo included.
    sign = -1.0 if differences.sum() < 0 else 1.0
    drawn = flips(sign * differences)
    low, high = flip_bounds(drawn, sign * differences, np.ones(len(differences)), alpha, (-1.0, 1.0))
    # A bound that excludes zero is the test's own; only the others may be widened.
    low = plain if (plain := drawn.lower_bound(alpha)) > 0 else low
    return (drawn.p_value(), low, high) if sign > 0 else (drawn.p_value(), -high, -low)


def agree(ci: tuple[float, float], pairs: Pairs, *, significant: bool) -> tuple[float, float]:
    """Make an interval say of zero what the test says; one that must be open at zero stops 1e-6 points from it."""
    low, high = ci
    if not significant:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, OPEN), high) if pairs.differences.sum() > 0 else (low, min(high, -OPEN))
