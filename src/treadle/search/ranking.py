"""The task's own ranking of the models given: one call each on the search part, measured first and paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from treadle.evaluation.evaluate import Measurement
from treadle.evaluation.report import Row
from treadle.ledger.recording import EndedBy
from treadle.search.space import Space, Structure


@runtime_checkable
class Ranked(Space, Protocol):
    """A space whose structures depend on which models are better at the task."""

    @property
    def ranking(self) -> tuple[int, ...]:
        """Places of the models given, from 1, the best first."""
        ...

    def ranked(self, ranking: Sequence[int]) -> Self:
        """The space with the models in another order."""
        ...

    def singles(self) -> Sequence[Structure]:
        """What each model is ranked by, in the order in which they were given."""
        ...


@dataclass(frozen=True, slots=True)
class Ranking:
    """The models given, ranked.

    Attributes:
        models: Their names, in the order in which they were given.
        rows: What each of them scored alone.
        ended_by: Whether all were measured.
    """

    models: tuple[str, ...]
    rows: tuple[Row, ...]
    ended_by: EndedBy

    @property
    def places(self) -> tuple[int, ...]:
        """Places from 1, the best first; equals stay in the order in which they were given."""
        scores = [-1.0 if row.score is None else row.score for row in self.rows]
        return tuple(place + 1 for place in sorted(range(len(scores)), key=lambda place: -scores[place]))

    def document(self) -> list[dict[str, Any]]:
        """The models from the best down, as JSON values."""
        return [{"model": self.models[place - 1], "score": self.rows[place - 1].score} for place in self.places]


async def rank_models(measurement: Measurement) -> Ranking:
    """Measure every model alone.

    Args:
        measurement: A measurement of `Ranked.singles` on the search part, not yet run.
    """
    ended_by = await measurement.run()
    return Ranking(measurement.recording.models, tuple(measurement.rows), ended_by)
