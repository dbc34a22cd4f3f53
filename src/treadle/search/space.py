"""The seams of a search: what may be chosen from, who proposes, and what is learned of each proposal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from treadle.workflows.base import Workflow

if TYPE_CHECKING:
    from treadle.evaluation.statistics.clusters import FloatArray


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


Value = int | bool | str | None
Point = tuple[Value, ...]
"""One value an axis; ``None`` where the structure has nothing of it."""


@runtime_checkable
class Grid(Space, Protocol):
    """A finite space whose structures are points on named axes; `structures` are in the order of ``points``.

    ``structures`` may be made when they are looked at: ask for single ones where a few are enough.
    """

    @property
    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        """Every value that each axis takes, in an order that means something where the values have one."""
        ...

    @property
    def points(self) -> Sequence[Point]:
        """All valid points, each once."""
        ...

    def features(self) -> FloatArray:
        """The points for a surrogate: structures × features, each feature scaled to 0 to 1."""
        ...

    def costs(self) -> FloatArray:
        """Calls of one question with each structure, as far as they are known before it is run."""
        ...


@dataclass(frozen=True, slots=True)
class Trial:
    """What a search learned of one structure.

    Attributes:
        number: Its place among the suggestions, from 0.
        structure: What was suggested.
        samples: Search questions it met: fewer than there are where the race dropped it, or the search was ended.
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

    The same seed and the same results give the same proposals. ``tell`` brings, before the next ``ask``, all trials
    that have ended so far and that the next proposal may see, in the order of their numbers: earlier ones again, since
    their differences to the others are known better now.
    """

    def ask(self, count: int) -> Sequence[Structure]:
        """At most so many structures that were not proposed before; fewer or none when there are no more."""
        ...

    def tell(self, trials: Sequence[Trial]) -> None:
        """Learn the results of a batch; a number that was told before comes with better known ``centred`` values."""
        ...
