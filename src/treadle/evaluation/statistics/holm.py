"""Several comparisons against one baseline: Holm's p-values and simultaneous intervals."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import Floats
from treadle.evaluation.statistics.paired import ALPHA, Comparison, agree, mean_points, pair, paired_test, verdict


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjusted p-values, in the order given (Holm 1979, Scand. J. Stat. 6).

    Args:
        p_values: Uncorrected p-values of all comparisons of one table.

    Raises:
        UserError: A p-value lies outside 0–1.
    """
    if any(not 0.0 <= p <= 1.0 for p in p_values):
        raise UserError("p-values lie between 0 and 1")
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = reached
    return tuple(adjusted)


def simultaneous_level(comparisons: int, level: float = 0.95) -> float:
    """The level at which each of several intervals must be taken so that all hold together (Bonferroni)."""
    return 1.0 - (1.0 - level) / max(1, comparisons)


def compare_rows(
    rows: Mapping[str, Floats],
    baseline: Floats,
    groups: Sequence[Hashable] | None = None,
    margin: float = 2.0,
    multiplier: int = 1,
) -> dict[str, Comparison]:
    """Compare every row of a table with one baseline.

    The p-values are Holm's; the intervals hold together at 95 % (each at Bonferroni's level). Where Holm rejects and
    Bonferroni would not, the interval is left open at zero, as the simultaneous intervals that belong to Holm's
    procedure are (Guilbaud 2008, Biometrical Journal 50): so p < 0.05 still means that 0 lies outside.

    Args:
        rows: Per row one fraction 0–1 per question, NaN for infra, in the baseline's order.
        baseline: The baseline's scores.
        groups: One label per question.
        margin: Points that do not matter.
        multiplier: The how-manieth look at these questions this is.

    Raises:
        UserError: The lengths differ, or a score lies outside 0–1.
    """
    alpha = ALPHA / (max(1, len(rows)) * multiplier)
    pairs = {name: pair(scores, baseline, groups) for name, scores in rows.items()}
    tests = {name: paired_test(found, alpha) for name, found in pairs.items()}
    adjusted = holm([test[0] for test in tests.values()])
    table: dict[str, Comparison] = {}
    for (name, (_, low, high)), holm_p in zip(tests.items(), adjusted, strict=True):
        p_value = min(1.0, holm_p * multiplier)
        ci95 = agree((100.0 * low, 100.0 * high), pairs[name], significant=p_value < ALPHA)
        table[name] = Comparison(pairs[name].n, mean_points(pairs[name]), ci95, p_value, verdict(ci95, margin))
    return table
