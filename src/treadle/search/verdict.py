"""The end of a search: the winner against its baselines, in a fixed sequence, on one opening of the test part."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from treadle.evaluation.statistics.clusters import FloatArray
from treadle.evaluation.statistics.paired import ALPHA, Comparison, compare_paired, pair
from treadle.evaluation.statistics.power import detectable_after

EQUAL_COST = "equal-cost"
OVERALL = "overall"
ITSELF = "itself"


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """A workflow measured on the test part: one fraction 0–1 per question, averaged over repeats, NaN for infra."""

    name: str
    scores: FloatArray


@dataclass(frozen=True, slots=True)
class NamedComparison:
    """One row of ``comparisons``: the winner against ``workflow``, chosen as its ``against``."""

    against: str
    workflow: str
    comparison: Comparison


def conclude(
    winner: Contender,
    same_cost: Contender | None,
    best: Contender | None,
    *,
    groups: Sequence[Hashable] | None = None,
    margin: float = 2.0,
    opened: int = 1,
) -> tuple[NamedComparison, ...]:
    """Compare first with the best baseline of equal or lower cost; only if better, with the best overall.

    Each test is two-sided at 5 %; the fixed sequence keeps the error of the whole there (Maurer, Hothorn and Lehmacher
    1995). Pairs with an infra failure on either side leave the test.

    Args:
        winner: The search's winner; no baseline itself (see ``against_itself``).
        same_cost: ``None`` when every baseline costs more: the sequence then begins with ``best``.
        best: The best baseline at any cost; ``None`` without baselines.
        groups: One label per question.
        margin: Points that do not matter.
        opened: The how-manieth opening of this test part this is; multiplies p.

    Raises:
        UserError: The questions differ, or a score lies outside 0–1.
    """
    rows: list[NamedComparison] = []
    for against, baseline in ((EQUAL_COST, same_cost), (OVERALL, best)):
        if baseline is None:
            continue
        comparison = compare_paired(winner.scores, baseline.scores, groups, margin, opened)
        rows.append(NamedComparison(against, baseline.name, comparison))
        if comparison.verdict != "better":
            break
    return tuple(rows)


def against_itself(winner: str) -> tuple[NamedComparison, ...]:
    """The one row of a search whose winner is itself a baseline: nothing to test, and the test part stays closed."""
    return (NamedComparison(ITSELF, winner, Comparison(0, 0.0, (0.0, 0.0), 1.0, "no difference")),)


def detectable(
    winner: Contender, baseline: Contender, *, groups: Sequence[Hashable] | None = None, opened: int = 1
) -> float | None:
    """The true difference, in points, that this test could have found with 80 % power, from the spread it showed.

    Args:
        winner: As in ``conclude``.
        baseline: The baseline it was compared with.
        groups: One label per question.
        opened: The how-manieth opening of this test part this is.
    """
    return detectable_after(pair(winner.scores, baseline.scores, groups).differences, alpha=ALPHA / opened)
