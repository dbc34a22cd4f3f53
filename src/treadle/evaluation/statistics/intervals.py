"""Intervals of one score."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from scipy.special import ndtri

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import Clusters, Floats, cluster_means, is_binary, score_array
from treadle.evaluation.statistics.signflip import flip_bounds, flips


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Score interval of a proportion (Wilson 1927, JASA 22).

    Args:
        successes: Count, 0 to n.
        n: Trials.
        level: Coverage, a fraction.

    Returns:
        Bounds as fractions; ``None`` without a trial.

    Raises:
        UserError: The count does not lie between 0 and n.
    """
    if not 0 <= successes <= n:
        raise UserError(f"{successes} successes of {n} trials: give a count between 0 and the number of trials")
    if n == 0:
        return None
    z = float(ndtri((1.0 + level) / 2.0))
    rate = successes / n
    shrink = 1.0 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(rate * (1.0 - rate) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def mean_interval(values_per_question: Floats, level: float = 0.95) -> tuple[float, float] | None:
    """Interval of the mean of question means, by inverting the sign-flip test.

    Args:
        values_per_question: Fractions 0–1, each a mean over repeats; NaN (infra) is left out.
        level: Coverage, a fraction.

    Returns:
        Bounds as fractions, within 0–1; ``None`` when nothing was scored. With fewer than six values nothing can be
        excluded at 95 %: (0, 1).

    Raises:
        UserError: A score lies outside 0–1.
    """
    values = score_array(values_per_question)
    return _clusters_interval(cluster_means(values[~np.isnan(values)], None), level)


def score_interval(
    values: Floats, groups: Sequence[Hashable] | None = None, level: float = 0.95
) -> tuple[float, float] | None:
    """Interval of a score: Wilson for one 0/1 value per cluster, else the sign-flip inversion on cluster means.

    Clusters weigh as many questions as they hold, so the interval belongs to the mean over questions.

    Args:
        values: One fraction 0–1 per question, a mean over repeats; NaN (infra) is left out.
        groups: One label per question; questions of one group are one cluster.
        level: Coverage, a fraction.

    Returns:
        Bounds as fractions, within 0–1; ``None`` when nothing was scored.

    Raises:
        UserError: A score lies outside 0–1, or the lengths differ.
    """
    array = score_array(values)
    if groups is not None and len(groups) != len(array):
        raise UserError(f"{len(array)} scores but {len(groups)} group labels; give one label per question")
    scored = ~np.isnan(array)
    kept = None if groups is None else [label for label, keep in zip(groups, scored, strict=True) if keep]
    clusters = cluster_means(array[scored], kept)
    if bool(np.all(clusters.sizes == 1.0)) and is_binary(clusters.means):
        return wilson(int(clusters.means.sum()), len(clusters.means), level)
    return _clusters_interval(clusters, level)


def _clusters_interval(clusters: Clusters, level: float) -> tuple[float, float] | None:
    if len(clusters.means) == 0:
        return None
    drawn = flips(clusters.means, clusters.sizes)
    return flip_bounds(drawn, clusters.means, clusters.sizes, 1.0 - level, (0.0, 1.0))
