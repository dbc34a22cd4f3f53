"""The noise floor: how far two runs of one and the same workflow lie apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from treadle.evaluation.statistics.clusters import FloatArray, Floats


def noise_floor(repeat_scores_per_question: Sequence[Floats] | FloatArray) -> float | None:
    """The 95 % quantile of the absolute difference of the scores of two fresh runs on the same questions.

    Two runs differ by the mean over questions of two independent draws' difference, whose variance is 2·Σσ²/n². Each
    question's σ² is estimated from its own repeats, which uses all n·(R − 1) degrees of freedom instead of the few
    dependent differences of R run scores; the quantile is Student's with Satterthwaite's degrees of freedom (1946,
    Biometrics Bulletin 2). What shifts a whole run at once, such as a provider that changes a model, is not in it.

    Args:
        repeat_scores_per_question: n questions × R repeats, fractions 0–1, NaN for infra.

    Returns:
        Points; ``None`` when no question has two scored repeats.
    """
    table = np.asarray(repeat_scores_per_question, dtype=np.float64)
    if table.ndim != 2:
        return None
    counts = (~np.isnan(table)).sum(axis=1)
    table, counts = table[counts >= 2], counts[counts >= 2]
    if len(table) == 0:
        return None
    means = np.nansum(table, axis=1) / counts
    variances = np.nansum((table - means[:, None]) ** 2, axis=1) / (counts - 1)
    total = float(variances.sum())
    if total <= 1e-18:
        return 0.0
    freedom = total**2 / float(np.sum(variances**2 / (counts - 1)))
    return min(100.0, 100.0 * float(stdtrit(freedom, 0.975)) * math.sqrt(2.0 * total) / len(table))
