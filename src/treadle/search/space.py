"""The seams of a search: what may be chosen from, who proposes, and what is learned of each proposal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from treadle.workflows.base import Workflow


@dataclass(frozen=True, slots=True)
class Structure:
    """One member of a space; two of the same name are the same structure."""

    name: str
    workflow: Workflow

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class Space(Protocol):
    """A set of structures.

    ``raw`` counts combinations of its axes, ``valid`` those that its constraints leave; an infinite space has ``None``
    for both and no ``structures``.
    """

    @property
    def name(self) -> str:
        """The spec it was opened from."""
        ...

    @property
    def raw(self) -> int | None:
        """Combinations of the axes."""
        ...

    @property
    def valid(self) -> int | None:
        """Combinations that the constraints leave."""
        ...

    def structures(self) -> Sequence[Structure]:
        """All valid structures, in a fixed order."""
        ...

    def document(self) -> dict[str, Any]:
        """Name, counts, axes and constraints as JSON values."""
        ...


@dataclass(frozen=True, slots=True)
class Trial:
    """What a search learned of one structure.

    Attributes:
        number: Its place among the suggestions, from 0.
        structure: What was suggested.
        samples: Search questions it met.
        score: Mean over them, a fraction, or ``None`` when none was scored; after ``stopped_at`` it may only be
            printed with that number and never goes to a surrogate.
        centred: Mean block-centred paired difference to the others that met the same blocks, a fraction.
        noise: Standard error of ``centred``.
        cost: What a question costs fresh, in the search's cost unit.
        per_sample: The same in all units.
        stopped_at: Questions after which the race dropped it, or ``None``.
    """

    number: int
    structure: Structure
    samples: int
    score: float | None
    centred: float | None
    noise: float | None
    cost: float
    per_sample: dict[str, float | None]
    stopped_at: int | None = None


class Strategy(Protocol):
    """Proposes structures; nothing else.

    The same seed and the same results give the same proposals. ``tell`` brings all trials of a batch at once, in the
    order of their numbers, before the next ``ask``.
    """

    def ask(self, count: int) -> Sequence[Structure]:
        """At most so many structures that were not proposed before; fewer or none when there are no more."""
        ...

    def tell(self, trials: Sequence[Trial]) -> None:
        """Learn the results of a batch."""
        ...
