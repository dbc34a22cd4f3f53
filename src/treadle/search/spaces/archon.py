"""Archon structures as a space: points on dials, made into structures when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast, overload

from treadle.search.space import Point, Structure, Value
from treadle.search.spaces.dials import AXES, SLOTS, Dials, terms_of
from treadle.workflows.archon.components.critic import Critic
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import Ranker
from treadle.workflows.archon.components.unit_tests import TestChecker, TestWriter
from treadle.workflows.archon.components.verifier import Verifier
from treadle.workflows.archon.structure import Archon, Layer
from treadle.workflows.archon.workflow import structure_workflow

if TYPE_CHECKING:
    from treadle.evaluation.statistics.clusters import FloatArray

MODELS = 10
"""Models that are counted with where none are given."""


@dataclass(frozen=True)
class ArchonSpace:
    """The valid structures of some dials, for the models given.

    The models that generate are the best by the task's own ranking of single models; fusers of a layer are its first
    ones, in turn; everybody else is the best one. A model named for a role takes all places of that role.

    Attributes:
        name: The spec it was opened from.
        dials: What structures may be, cut to the models given.
        ranking: The places of the models given, from 1, the best first.
        most_calls: Calls that a question may take, or ``None``.
    """

    name: str
    dials: Dials
    ranking: tuple[int, ...]
    most_calls: int | None = None

    def ranked(self, ranking: Sequence[int]) -> ArchonSpace:
        """The space with the models in another order."""
        return replace(self, ranking=tuple(ranking))

    @property
    def raw(self) -> int:
        """Combinations of the axes."""
        return self.dials.raw

    @property
    def valid(self) -> int:
        """Combinations that the constraints leave."""
        return len(self.points)

    @property
    def points(self) -> Sequence[Point]:
        """All valid points."""
        return self._counted[0]

    @property
    def _counted(self) -> tuple[Sequence[Point], Sequence[int]]:
        """All valid points, and the calls of each: they do not depend on which model is where."""
        return _counted(replace(self, name="", ranking=tuple(range(1, len(self.ranking) + 1))))

    @property
    def axes(self) -> Mapping[str, tuple[Value, ...]]:
        """Every value that each axis takes."""
        empty: tuple[Value, ...] = (None,)
        values: list[tuple[Value, ...]] = [self.dials.models, self.dials.samples]
        for slot in range(SLOTS):
            there = self.dials.slots or max(self.dials.fusion_layers) > slot + 1
            values.append((*empty, *self.dials.fusers) if there else empty)
        return dict(zip(AXES, (*values, self.dials.critic, self.dials.check), strict=True))

    def structures(self) -> Sequence[Structure]:
        """All valid structures, made when they are looked at."""
        return _Structures(self)

    def structure(self, point: Point) -> Archon:
        """The structure at a point."""
        models, samples = cast("tuple[int, int]", point[:2])
        counts = [cast("int", count) for count in point[2 : 2 + SLOTS] if count is not None]
        critic, check = point[-2:]
        best = None if len(self.ranking) == 1 else str(self.ranking[0])
        layers: list[Layer] = [_generators(self.ranking, models, samples)]
        for place, count in enumerate((*counts, 1)):
            if critic:
                layers += _reviewed(best, self.dials.ranker_top_k)
            if place == len(counts):
                layers += _checked(check, best)
            layers.append(_fusers(self.ranking, count))
        return Archon(tuple(layers))

    def singles(self) -> list[Structure]:
        """One call of each model given, in their order: what the ranking is made of."""
        places = range(1, len(self.ranking) + 1)
        structures = [Archon((_generators((place,), 1, 1, show=True),)) for place in places]
        return [_named(structure) for structure in structures]

    def features(self) -> FloatArray:
        """The points as numbers from 0 to 1: counts on a square-root scale, choices as one number each."""
        import numpy as np

        table = np.array([_features(point) for point in self.points], dtype=np.float64)
        least, most = table.min(axis=0), table.max(axis=0)
        return (table - least) / np.where(most > least, most - least, 1.0)

    def costs(self) -> FloatArray:
        """Calls of one question."""
        import numpy as np

        return np.array(self._counted[1], dtype=np.float64)

    def document(self) -> dict[str, Any]:
        """Name, counts, axes and constraints as JSON values."""
        most = [] if self.most_calls is None else [f"calls <= {self.most_calls}"]
        return {
            "name": self.name,
            "raw": self.raw,
            "valid": self.valid,
            "axes": self.dials.axes(),
            "constraints": [*self.dials.rules, *most],
        }


@lru_cache(maxsize=8)
def _counted(space: ArchonSpace) -> tuple[Sequence[Point], Sequence[int]]:
    rules = space.dials.call_rules
    most = float("inf") if space.most_calls is None else space.most_calls
    points: list[Point] = []
    calls: list[int] = []
    for point in space.dials.points():
        count = space.structure(point).count()
        if count <= most and all(rule(terms_of(point, count)) for rule in rules):
            points.append(point)
            calls.append(count)
    return points, calls


class _Structures(Sequence[Structure]):
    """The structures of a space in the order of its points."""

    def __init__(self, space: ArchonSpace) -> None:
        self._space = space

    def __len__(self) -> int:
        return len(self._space.points)

    @overload
    def __getitem__(self, place: int) -> Structure: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Structure]: ...

    def __getitem__(self, place: int | slice) -> Structure | Sequence[Structure]:
        if isinstance(place, slice):
            return [self[index] for index in range(*place.indices(len(self)))]
        return _named(self._space.structure(self._space.points[place]))

    def __iter__(self) -> Iterator[Structure]:
        return (self[place] for place in range(len(self)))


def _named(structure: Archon) -> Structure:
    workflow = structure_workflow(structure)
    return Structure(workflow.name, workflow)


def _features(point: Point) -> tuple[float, ...]:
    terms = terms_of(point)
    counts = [terms[name] for name in ("models", "samples", "candidates", "fusers_1", "fusers_2", "fusers_3")]
    critic, check = point[-2:]
    return (
        *(count**0.5 for count in counts),
        float(terms["fusion_layers"]),
        float(bool(critic)),
        float(check == "verifier"),
        float(check == "unit_tests"),
    )


@lru_cache(maxsize=4096)
def _generators(ranking: tuple[int, ...], models: int, samples: int, show: bool = False) -> Layer:
    if len(ranking) == 1 and not show:
        return (Generator(samples=samples),)
    return tuple(Generator(model=str(place), samples=samples) for place in ranking[:models])


@lru_cache(maxsize=4096)
def _fusers(ranking: tuple[int, ...], count: int) -> Layer:
    if len(ranking) == 1:
        return (Fuser(samples=count),)
    dealt = [len(range(place, count, len(ranking))) for place in range(len(ranking))]
    return tuple(
        Fuser(model=str(place), samples=samples) for place, samples in zip(ranking, dealt, strict=True) if samples
    )


@lru_cache(maxsize=64)
def _reviewed(best: str | None, top_k: int) -> tuple[Layer, Layer]:
    return (Critic(model=best),), (Ranker(model=best, top_k=top_k),)


@lru_cache(maxsize=64)
def _checked(check: Value, best: str | None) -> tuple[Layer, ...]:
    if check == "verifier":
        return ((Verifier(model=best),),)
    if check == "unit_tests":
        return (TestWriter(model=best),), (TestChecker(model=best),)
    return ()
