"""Exact intervals of a proportion, and coverage by repeated draws."""

from __future__ import annotations

from scipy.special import betaincinv

from treadle.errors import UserError


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Exact two-sided interval of a proportion (Clopper and Pearson 1934, Biometrika 26).

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
    tail = (1.0 - level) / 2.0
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1.0 - tail))
    return low, high


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Unbiased chance that at least one of k draws is right (Chen et al. 2021, arXiv 2107.03374, section 2.1).

    Args:
        n: Draws made for the question.
        correct: Right ones among them.
        k: Draws allowed, at most n.

    Raises:
        UserError: k is below 1 or above n, or the count does not lie between 0 and n.
    """
    if not 0 <= correct <= n:
        raise UserError(f"{correct} right of {n} draws: give a count between 0 and the number of draws")
    if not 1 <= k <= n:
        raise UserError(f"pass@{k} cannot be told from {n} draws; draw at least {max(k, 1)} or ask for a k from 1 to n")
    missed = 1.0
    for draw in range(n - correct + 1, n + 1):
        missed *= max(0.0, 1.0 - k / draw)
    return 1.0 - missed
