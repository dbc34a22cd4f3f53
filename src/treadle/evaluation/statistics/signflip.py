"""The sign-flip permutation test and the intervals that invert it.

Flipping the signs of a subset A of the differences d − θ makes the sum at least as large as the observed one exactly
when the mean of d over A is at most θ. So one set of subset means gives the p-value at every θ at once, and the
interval is made of two of its quantiles (Hartigan 1969, "Using subsample values as typical values", JASA 64).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from treadle.evaluation.statistics.clusters import FloatArray

EXACT_LIMIT = 15
DRAWS = 2**EXACT_LIMIT - 1
_SEED = 20_240_611
_TIE = 1e-9
_PATTERNS: FloatArray = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(
    np.float64
)


@dataclass(frozen=True, slots=True)
class Flips:
    """Sums and total weights of the subsets drawn: every non-empty one up to 15 values, else 32,767 seeded ones."""

    sums: FloatArray
    weights: FloatArray

    def p_value(self) -> float:
        """Two-sided p-value of a zero mean, (b + 1) / (draws + 1) for each tail, doubled."""
        low = int(np.count_nonzero(self.sums <= _TIE))
        high = int(np.count_nonzero(self.sums >= -_TIE))
        return min(1.0, 2.0 * (1 + min(low, high)) / (len(self.sums) + 1))

    def lower_bound(self, alpha: float) -> float:
        """The smallest mean that the two-sided test at ``alpha`` does not reject; −∞ when it rejects none."""
        rank = math.ceil(alpha / 2.0 * (len(self.sums) + 1) - 1e-9) - 1
        if rank < 1:
            return -math.inf
        means = np.full(len(self.sums), -np.inf)
        np.divide(self.sums, self.weights, out=means, where=self.weights > 0)
        return float(np.partition(means, rank - 1)[rank - 1])

    def upper_bound(self, alpha: float) -> float:
        """The largest mean that the two-sided test at ``alpha`` does not reject; ∞ when it rejects none."""
        return -Flips(-self.sums, self.weights).lower_bound(alpha)

    def with_value(self, value: float, weight: float) -> Flips:
        """The subsets of one value more."""
        return Flips(
            np.concatenate([self.sums, self.sums + weight * value]),
            np.concatenate([self.weights, self.weights + weight]),
        )


def _subsets(count: int) -> npt.NDArray[np.uint8]:
    columns = -(-count // 8)
    if count <= EXACT_LIMIT:
        every = np.arange(1, 2**count, dtype="<u2").view(np.uint8).reshape(-1, 2)
        return np.ascontiguousarray(every[:, :columns].T)
    drawn = np.random.default_rng(_SEED).bytes(columns * DRAWS)
    return np.frombuffer(drawn, dtype=np.uint8).reshape(columns, DRAWS)


def _byte_sums(values: FloatArray) -> FloatArray:
    padded = np.zeros(-(-len(values) // 8) * 8)
    padded[: len(values)] = values
    return padded.reshape(-1, 8) @ _PATTERNS.T


def flips(values: FloatArray, weights: FloatArray | None = None) -> Flips:
    """Draw the subsets of a set of values.

    Args:
        values: m numbers; their order does not matter, they are sorted first.
        weights: m positive weights, 1 without.

    Returns:
        The same for the same values, on every machine.
    """
    mass = np.ones(len(values)) if weights is None else weights
    order = np.lexsort((mass, values))
    subsets = _subsets(len(values))
    value_sums = _byte_sums((values * mass)[order])
    weight_sums = _byte_sums(mass[order])
    sums = np.zeros(subsets.shape[1])
    totals = np.zeros(subsets.shape[1])
    for column, chosen in enumerate(subsets):
        index = chosen.astype(np.intp)
        sums += value_sums[column].take(index)
        totals += weight_sums[column].take(index)
    return Flips(sums, totals)


def _worst_value(residuals: FloatArray, reach: float, alpha: float) -> float:
    """How far beyond the mean one imagined value lies that stands for the part of a skewed tail not seen yet.

    Its size is Johnson's skewness correction of the t interval (1978, JASA 73; Hall 1992, Biometrika 79) times n, with
    a value at the bound counted into the sample skewness: with nothing but zeros seen it is the bound itself, with many
    symmetric values next to nothing.
    """
    z = float(ndtri(1.0 - alpha / 2.0))
    pooled = np.append(residuals, reach)
    pooled -= pooled.mean()
    spread = float(np.sum(pooled**2))
    if spread <= 0.0:
        return 0.0
    return min(reach, max(0.0, (1.0 + 2.0 * z * z) / 6.0 * float(np.sum(pooled**3)) / spread))


def flip_bounds(
    drawn: Flips, values: FloatArray, weights: FloatArray, alpha: float, limits: tuple[float, float]
) -> tuple[float, float]:
    """Interval for the mean of values that are known to lie within limits.

    The inversion of the sign-flip test, widened on a skewed side by one imagined value (see ``_worst_value``), without
    which a few non-zero values among many zeros would feign certainty.

    Args:
        drawn: The subsets of ``values``.
        values: m numbers within ``limits``.
        weights: m weights.
        alpha: 1 − level.
        limits: The bounds of every value; the interval is clipped to them.
    """
    mean = float(np.average(values, weights=weights))
    typical = float(weights.mean())
    residuals = (values - mean) * weights / typical
    below = mean - _worst_value(-residuals, mean - limits[0], alpha)
    above = mean + _worst_value(residuals, limits[1] - mean, alpha)
    low = min(drawn.lower_bound(alpha), drawn.with_value(below, typical).lower_bound(alpha), mean)
    high = max(drawn.upper_bound(alpha), drawn.with_value(above, typical).upper_bound(alpha), mean)
    return max(low, limits[0]), min(high, limits[1])
