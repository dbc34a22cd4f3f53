"""After how many uses a search has paid for itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treadle.search.settings import CostUnit
from treadle.search.verdict import ITSELF, NamedComparison

AS_GOOD = ("better", "no difference", "not worse")
"""Verdicts with which a cheaper structure may take the place of a baseline."""


@dataclass(frozen=True, slots=True)
class Payback:
    """What a question costs less with the winner than with a baseline that it is as good as.

    Attributes:
        against: The baseline.
        unit: What cost is counted in.
        saved: Cost saved a question.
        questions: Questions after which that is what the search cost.
    """

    against: str
    unit: CostUnit
    saved: float
    questions: int

    def document(self) -> dict[str, Any]:
        """The payback as JSON values."""
        return {"against": self.against, "unit": self.unit, "saved": self.saved, "questions": self.questions}


def payback(
    winner_cost: float,
    comparisons: Sequence[NamedComparison],
    costs: Mapping[str, float],
    spent: float | None,
    unit: CostUnit,
) -> Payback | None:
    """When a search has paid for itself, if it ever does.

    Args:
        winner_cost: Fresh cost of a question with the winner.
        comparisons: The winner against its baselines on the test part.
        costs: Fresh cost of a question with each baseline, on the same part as the winner's.
        spent: What the search cost, in the same unit; ``None`` where that is not known.
        unit: The unit.

    Returns:
        The payback against the dearest baseline that the winner is as good as; ``None`` where none of them is dearer.
    """
    found = [
        Payback(row.workflow, unit, costs[row.workflow] - winner_cost, 0)
        for row in comparisons
        if row.against != ITSELF and row.comparison.verdict in AS_GOOD and row.workflow in costs
    ]
    best = max(found, key=lambda each: each.saved, default=None)
    if best is None or spent is None or not math.isfinite(best.saved) or best.saved <= 0:
        return None
    return Payback(best.against, unit, best.saved, math.ceil(spent / best.saved))
