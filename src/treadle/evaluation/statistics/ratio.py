"""The ratio of two means on the same questions, such as the tokens of one workflow as a share of another's."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray, Floats, cluster_means


@dataclass(frozen=True, slots=True)
class Ratio:
    """Mean of the first over mean of the second.

    Attributes:
        n: Questions.
        value: The ratio; ``None`` where the second is nothing.
        ci95: Its 95 % interval; ``None`` with fewer than two clusters that count.
    """

    n: int
    value: float | None
    ci95: tuple[float, float] | None


def ratio_of_means(a: Floats, b: Floats, groups: Sequence[Hashable] | None = None, level: float = 0.95) -> Ratio:
    """Compare two amounts that are not below 0, paired by question.

    The linearised variance of a ratio of cluster totals (Cochran 1977, Sampling Techniques, section 6.4) on the log
    scale, with Student's t. Each residual is divided by 1 − leverage, as HC3 does (MacKinnon and White 1985, J.
    Econometrics 29), for a ratio is a regression through the origin weighted by 1/b: without that, few clusters with
    long tails feign certainty.

    Args:
        a: One amount per question, a mean over repeats.
        b: The same questions in the same order.
        groups: One label per question; questions of one group are one cluster.
        level: Coverage, a fraction.

    Returns:
        The ratio with its interval. Where every ``a`` is 0, so are both ends: nothing was seen to vary.

    Raises:
        UserError: The lengths differ, or an amount is below 0 or no number.
    """
    if len(a) != len(b):
        raise UserError(f"a ratio needs the same questions on both sides, got {len(a)}, {len(b)}")
    first, second = _totals(a, groups), _totals(b, groups)
    whole = float(second.sum())
    if whole <= 0.0:
        return Ratio(len(a), None, None)
    ratio = float(first.sum()) / whole
    rest = 1.0 - second / whole
    if ratio == 0.0 or len(first) < 2 or float(rest.min()) < 1e-9:
        return Ratio(len(a), ratio, (0.0, 0.0) if ratio == 0.0 and len(first) > 1 else None)
    residuals = (first - ratio * second) / rest
    spread = math.sqrt(float(residuals @ residuals)) / (ratio * whole)
    reach = math.exp(min(spread * float(stdtrit(len(first) - 1, (1.0 + level) / 2.0)), 700.0))
    return Ratio(len(a), ratio, (ratio / reach, ratio * reach))


def _totals(values: Floats, groups: Sequence[Hashable] | None) -> FloatArray:
    amounts = np.asarray(values, dtype=np.float64)
    if amounts.ndim != 1 or not bool(np.all(np.isfinite(amounts) & (amounts >= 0.0))):
        raise UserError("amounts are numbers of 0 or more, one per question")
    found = cluster_means(amounts, groups)
    return found.means * found.sizes
