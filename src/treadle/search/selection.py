"""Selection: from a race to finalists, from finalists to a winner, and the baselines it must answer to."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray, score_array
from treadle.evaluation.statistics.paired import pair
from treadle.search.racing import Standing

FINALISTS = 8
SAME_COST = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A workflow measured on the selection part with fresh draws.

    ``scores``: one fraction 0–1 per question, NaN for infra. ``cost``: fresh cost per sample, in the unit of the search
    (usd where every model is priced, else tokens).
    """

    name: str
    scores: FloatArray
    cost: float

    @property
    def mean(self) -> float:
        """Mean over scored questions; −∞ when nothing was scored."""
        scored = self.scores[~np.isnan(self.scores)]
        return float(scored.mean()) if len(scored) else -math.inf


def finalists(standing: Sequence[Standing], limit: int = FINALISTS) -> tuple[str, ...]:
    """The structures to measure again: in the race to its end, the best ``limit`` by their effect.

    Args:
        standing: ``Race.standing()``; structures that met fewer samples than the furthest one stay out.
        limit: At most so many.
    """
    alive = [row for row in standing if row.stopped_at is None and row.effect is not None]
    furthest = max((row.n for row in alive), default=0)
    return tuple(row.structure for row in alive if row.n == furthest)[:limit]


def choose_winner(measured: Sequence[Measured], groups: Sequence[Hashable] | None = None) -> Measured:
    """The one-standard-error rule: the cheapest within one standard error of the best mean.

    The standard error is that of the paired difference to the best. Ties in cost go to the better mean, then to the
    earlier one. (Breiman et al. 1984, CART, section 3.4.3, with paired differences.)

    Args:
        measured: At least one workflow, all on the same questions in the same order.
        groups: One label per question.

    Raises:
        UserError: Nothing was scored, or the questions differ.
    """
    return _cheapest_within(measured, 0.0, groups)


def choose_cheapest(
    measured: Sequence[Measured], margin: float = 2.0, groups: Sequence[Hashable] | None = None
) -> Measured:
    """The cheapest that is not behind the best mean by more than the margin, or one standard error if that is more.

    Args:
        measured: At least one workflow, all on the same questions in the same order.
        margin: Points that do not matter.
        groups: One label per question.

    Raises:
        UserError: Nothing was scored, or the questions differ.
    """
    return _cheapest_within(measured, margin / 100.0, groups)


def overall(baselines: Sequence[Measured]) -> Measured | None:
    """The baseline with the best mean; ties go to the cheaper, then to the earlier one. ``None`` without any."""
    scored = [baseline for baseline in baselines if baseline.mean > -math.inf]
    return min(scored, key=lambda baseline: (-baseline.mean, baseline.cost), default=None)


def equal_cost(baselines: Sequence[Measured], winner_cost: float, tolerance: float = SAME_COST) -> Measured | None:
    """The best baseline of equal or lower fresh cost.

    Args:
        baselines: Measured on the same questions as the winner.
        winner_cost: The winner's fresh cost per sample.
        tolerance: How much dearer, as a share, still counts as equal.

    Returns:
        ``None`` when every baseline costs more.
    """
    return overall([baseline for baseline in baselines if baseline.cost <= winner_cost * (1.0 + tolerance)])


def _cheapest_within(measured: Sequence[Measured], margin: float, groups: Sequence[Hashable] | None) -> Measured:
    best = overall(measured)
    if best is None:
        raise UserError("no structure was scored on the selection part; look at the failures, then search again")
    near = [row for row in measured if row is best or _is_near(best, row, margin, groups)]
    return min(near, key=lambda row: (row.cost, -row.mean))


def _is_near(best: Measured, row: Measured, margin: float, groups: Sequence[Hashable] | None) -> bool:
    differences = pair(score_array(best.scores), score_array(row.scores), groups).differences
    if len(differences) == 0:
        return False
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
    return float(differences.mean()) <= max(margin, error) + 1e-12
