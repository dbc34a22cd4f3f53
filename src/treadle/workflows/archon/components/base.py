"""What the components of an Archon structure have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from treadle.errors import UserError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.player import Player

MOST_SAMPLES = 1000


@dataclass(frozen=True, slots=True)
class State:
    """What one layer hands to the next: candidates, and the check statements where there are any."""

    candidates: tuple[Candidate, ...] = ()
    statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Count:
    """Calls of a component, and how many candidates it leaves.

    ``calls`` and ``left`` hold when every reply can be used and every candidate passes; the others bound what can
    happen otherwise: second asks, candidates that do not pass, texts that stay as they were.
    """

    calls: int
    left: int
    fewest: int
    most: int
    least_left: int
    most_left: int


@dataclass(frozen=True, slots=True)
class Imagined:
    """A state of which only is known what it depends on: symbols in place of texts."""

    candidates: tuple[Hashable, ...] = ()
    critiques: tuple[Hashable | None, ...] = ()
    statements: Hashable | None = None

    def in_order(self, places: Sequence[int], top_k: int | None) -> Imagined:
        """The first candidates of an order, with their critiques."""
        kept = places[:top_k]
        return replace(
            self,
            candidates=tuple(self.candidates[place] for place in kept),
            critiques=tuple(self.critiques[place] for place in kept),
        )


@dataclass(slots=True)
class Requests:
    """The distinct requests that structures make, each known by a number.

    Two requests are one when who is asked, what is shown and the draw are the same.

    Attributes:
        question: The question's id, or its text where it has none: ties are drawn with it.
    """

    question: str = ""
    known: dict[Hashable, int] = field(default_factory=dict[Hashable, int])

    def make(self, *parts: Hashable) -> int:
        """The number of a request."""
        return self.known.setdefault(parts, len(self.known))


@dataclass(frozen=True, slots=True, kw_only=True)
class Component(ABC):
    """One component of a layer.

    Attributes:
        model: An alias, ``provider:model``, or the place of one of the models given, from ``"1"``; where there is
            none, the component's role says who is asked.
        temperature: Instead of the model's own.
        max_tokens: Instead of the model's own.
        prompt: An instruction in place of the component's own.

    Raises:
        UserError: A number is out of its range.
    """

    kind: ClassVar[str]
    """What Archon's own files call it."""
    letter: ClassVar[str]
    """What the one-line form calls it."""
    role: ClassVar[str]
    makes: ClassVar[bool] = False
    """Whether it writes new candidates; such components may share a layer."""

    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    prompt: str | None = None

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= 10:
            raise UserError(f"{self.kind}: the temperature must be from 0 to 10, not {self.temperature:g}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UserError(f"{self.kind}: max_tokens must be 1 or more, not {self.max_tokens}")

    @property
    def drafts(self) -> int:
        """How many candidates it writes; 0 for those that write none."""
        return 0

    @property
    def settings(self) -> dict[str, Any]:
        """Sampling settings that win over the model's own."""
        given = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def player(self) -> Player:
        """Who is asked."""
        return Player(self.role, self.model, self.settings)

    @property
    def asked(self) -> Hashable:
        """What makes its requests other than those of a component of the same kind: all but how many it makes."""
        rest = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("samples", "top_k")}
        return (self.kind, *rest.values())

    def played_by(self, model: str) -> Self:
        """The component with a model named."""
        return replace(self, model=model)

    @abstractmethod
    def count(self, least: int, candidates: int, most: int) -> Count:
        """Its calls for so many candidates: at least, as expected, and at most."""

    @abstractmethod
    def imagine(self, state: Imagined, requests: Requests, first_draw: int) -> Imagined:
        """What it would ask, and leave, on a state: rankers keep the order, candidates pass, comparisons are ties."""

    @abstractmethod
    async def work(self, problem: Problem, state: State, run: Run, *, id: str, first_draw: int) -> State:
        """Do its part.

        Args:
            problem: The question.
            state: What the layer before it left.
            run: Where calls are made.
            id: What it is called; its candidates' ids begin with it.
            first_draw: Its first draw, where another component of its layer asks the same.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer(Component):
    """A component that writes ``samples`` candidates; such components may share a layer."""

    makes: ClassVar[bool] = True
    samples: int = 1

    def __post_init__(self) -> None:
        Component.__post_init__(self)
        whole(self.kind, "samples", self.samples, 1, MOST_SAMPLES)

    @property
    def drafts(self) -> int:
        """One a sample."""
        return self.samples

    def count(self, least: int, candidates: int, most: int) -> Count:
        """One call a sample."""
        return Count(self.samples, self.samples, self.samples, self.samples, 1, self.samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picker(Component):
    """A component that keeps ``top_k`` of the candidates, or all that it finds fit."""

    top_k: int | None = None

    def __post_init__(self) -> None:
        Component.__post_init__(self)
        whole(self.kind, "top_k", self.top_k, 1, MOST_SAMPLES)

    def kept(self, candidates: int) -> int:
        """How many of so many candidates stay at most."""
        return candidates if self.top_k is None else min(self.top_k, candidates)


def whole(kind: str, name: str, value: int | None, least: int, most: int) -> None:
    """Refuse a number out of its range.

    Raises:
        UserError: Names component, setting, value and range.
    """
    if value is not None and not least <= value <= most:
        raise UserError(f"{kind}: {name} must be a whole number from {least} to {most}, not {value}")
