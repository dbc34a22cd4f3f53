"""What a number of questions can show, and how many a difference needs."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrik, gammaln, ndtri, xlog1py, xlogy

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray, Floats

_LARGEST = 100_000_000
_GRID = 600
BETWEEN = 0.5


def independent_discordance(effect: float, base: float) -> float:
    """Share of questions that exactly one side gets right when the sides are independent.

    The cautious assumption: workflows that fail on the same questions disagree less, and fewer questions do.

    Args:
        effect: Difference, a fraction.
        base: Score of the weaker side, a fraction; lowered where base + effect would pass 1.
    """
    low = min(base, 1.0 - effect)
    high = low + effect
    return low * (1.0 - high) + high * (1.0 - low)


def mcnemar_power(n: int, effect: float, discordance: float, alpha: float = 0.05) -> float:
    """Exact power of McNemar's exact test to call a true difference by its right sign.

    Args:
        n: Pairs.
        effect: True difference, a fraction.
        discordance: Share of discordant pairs, at least ``effect``.
        alpha: Two-sided level.
    """
    share = min(1.0, max(discordance, effect))
    if n <= 0 or share <= 0.0:
        return 0.0
    spread = 9.0 * math.sqrt(n * share * (1.0 - share)) + 9.0
    first, last = max(0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread))
    counts = np.unique(np.linspace(first, last, min(last - first + 1, _GRID)).round()).astype(np.int64)
    chance = gammaln(n + 1.0) - gammaln(counts + 1.0) - gammaln(n - counts + 1.0)
    chance = np.exp(chance + xlogy(counts, share) + xlog1py(n - counts, -share))
    chance /= chance.sum()
    losses = _critical_losses(counts, alpha)
    losing = 0.5 * (1.0 - effect / share)
    reached = np.where(losses >= 0, bdtr(np.maximum(losses, 0.0), counts, losing), 0.0)
    return float(np.sum(chance * reached))


def _critical_losses(discordant: npt.NDArray[np.int64], alpha: float) -> FloatArray:
    """The most losses that are still significant, −1 where none is."""
    safe = np.maximum(discordant, 1)
    losses = np.floor(np.nan_to_num(bdtrik(alpha / 2.0, safe, 0.5), nan=-1.0))
    losses = np.minimum(np.maximum(losses, -1.0), safe - 1.0)
    tail = np.where(losses >= 0, bdtr(np.maximum(losses, 0.0), safe, 0.5), 0.0)
    losses = np.where(tail >= alpha / 2.0, losses - 1.0, losses)
    following = bdtr(losses + 1.0, safe, 0.5)
    losses = np.where(following < alpha / 2.0, losses + 1.0, losses)
    return np.where(discordant > 0, losses, -1.0)


def _effective(n: int, repeats: int) -> int:
    return math.floor(n / (BETWEEN + (1.0 - BETWEEN) / repeats))


def _power(n: int, effect: float, base: float, discordance: float | None, alpha: float) -> float:
    share = independent_discordance(effect, base) if discordance is None else discordance
    return mcnemar_power(n, effect, share, alpha)


def detectable_difference(
    n: int,
    base: float = 0.7,
    discordance: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    repeats: int = 1,
) -> float | None:
    """The smallest true difference that a paired test finds with the power asked for.

    Repeats are counted as more questions, n / (½ + ½/R): half of the variance of a question's difference is taken to be
    between questions, where repeats do not help.

    Args:
        n: Questions (clusters) in the test.
        base: Score of the weaker side, a fraction.
        discordance: Share of questions that exactly one side gets right; independent sides when not given.
        power: Chance to find it, a fraction.
        alpha: Two-sided level; 0.05 / k for the k-th opening.
        repeats: Draws averaged per question.

    Returns:
        Points; ``None`` when so few questions can show no difference at all.

    Raises:
        UserError: A share lies outside 0–1, or there are no repeats.
    """
    _check(base, discordance, power, alpha, repeats)
    questions = _effective(n, repeats)
    top = 1.0 if discordance is None else discordance
    if n < 1 or _power(questions, top, base, discordance, alpha) < power:
        return None
    low, high = 0.0, top
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (low, middle) if _power(questions, middle, base, discordance, alpha) >= power else (middle, high)
    return 100.0 * high


def samples_needed(
    effect_points: float,
    base: float = 0.7,
    discordance: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    repeats: int = 1,
) -> int:
    """How many questions the test needs to find a true difference, under the assumptions of ``detectable_difference``.

    Args:
        effect_points: True difference, points above 0 and at most 100.
        base: Score of the weaker side, a fraction.
        discordance: Share of questions that exactly one side gets right; independent sides when not given.
        power: Chance to find it, a fraction.
        alpha: Two-sided level.
        repeats: Draws averaged per question.

    Raises:
        UserError: The effect is not within its bounds or too small to find with a hundred million questions.
    """
    _check(base, discordance, power, alpha, repeats)
    effect = effect_points / 100.0
    if not 0.0 < effect <= 1.0:
        raise UserError(f"an effect of {effect_points:g} points cannot be; give points above 0 and at most 100")
    if discordance is not None and effect > discordance:
        raise UserError(
            f"an effect of {effect_points:g} points needs at least that share of questions to differ, "
            f"not {100 * discordance:g} %; raise the discordance"
        )
    low, high = 0, 8
    while _power(_effective(high, repeats), effect, base, discordance, alpha) < power:
        low, high = high, 2 * high
        if high > _LARGEST:
            raise UserError(f"an effect of {effect_points:g} points needs more than {_LARGEST:,} questions")
    while high - low > 1:
        middle = (low + high) // 2
        enough = _power(_effective(middle, repeats), effect, base, discordance, alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def detectable_after(differences: Floats, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The true difference that a finished comparison could have found, from the spread it showed.

    Args:
        differences: First − second per cluster, fractions −1 to 1.
        power: Chance to find it, a fraction.
        alpha: Two-sided level; 0.05 / k for the k-th opening.

    Returns:
        Points, at most 100; ``None`` with fewer than two clusters. One imagined difference of a whole question is
        counted in, so that a test without any disagreement does not claim to see everything.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return None
    return min(100.0, _reach(values, power, alpha) / math.sqrt(len(values)))


def needed_after(differences: Floats, margin: float, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """How many clusters a comparison needs to show ``not worse``, where both sides are in truth equally good.

    The inverse of ``detectable_after``: from the spread that a finished comparison showed.

    Args:
        differences: First − second per cluster, fractions −1 to 1.
        margin: Points that do not matter.
        power: Chance to show it, a fraction.
        alpha: Two-sided level.

    Returns:
        ``None`` with fewer than two clusters, or where no difference at all is allowed.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2 or margin <= 0.0:
        return None
    return math.ceil((_reach(values, power, alpha) / margin) ** 2)


def _reach(values: FloatArray, power: float, alpha: float) -> float:
    """Points that one cluster could show; one imagined difference of a whole question is counted in."""
    variance = (float(np.sum((values - values.mean()) ** 2)) + 1.0) / len(values)
    return 100.0 * float(ndtri(1.0 - alpha / 2.0) + ndtri(power)) * math.sqrt(variance)


def _check(base: float, discordance: float | None, power: float, alpha: float, repeats: int) -> None:
    for name, share in (("base", base), ("discordance", discordance)):
        if share is not None and not 0.0 <= share <= 1.0:
            raise UserError(f"{name} must be a fraction between 0 and 1, not {share:g}")
    for name, share in (("power", power), ("alpha", alpha)):
        if not 0.0 < share < 1.0:
            raise UserError(f"{name} must lie strictly between 0 and 1, not {share:g}")
    if repeats < 1:
        raise UserError(f"{repeats} repeats; give 1 or more")
