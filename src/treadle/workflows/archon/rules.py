"""The construction rules of structures, in two profiles, checked before any call is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, get_args

from treadle.errors import UserError
from treadle.workflows.archon.components.base import Component
from treadle.workflows.archon.components.critic import Critic
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import PairRanker, Ranker
from treadle.workflows.archon.components.unit_tests import TestChecker, TestWriter
from treadle.workflows.archon.structure import Archon, Layer

Profile = Literal["paper", "archon-code"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
Kind = type[Component]
Fault = tuple[int, str, str]
"""A layer's place from 1, the rule that it breaks, and the remedy."""


def check(structure: Archon, profile: Profile = "paper") -> None:
    """Refuse a structure that breaks a rule of a profile.

    ``paper`` holds the six rules of table 4 of arXiv 2409.15254. ``archon-code`` allows what its public code runs and
    its own files use: unit tests written first (they then go into what generators are asked), generators in later
    layers (they replace the candidates), and critics before anything.

    Args:
        structure: What to check.
        profile: Whose rules.

    Raises:
        UserError: Names the rule, the layer and the remedy.
    """
    if not structure.layers or not all(structure.layers):
        raise UserError("archon: a structure needs at least one layer, and each layer a component")
    for rule in _RULES[profile]:
        for place, broken, remedy in rule(structure.layers):
            raise UserError(f"archon: layer {place} breaks the rule {broken!r} ({profile}): {remedy}")


def _kind(layer: Layer) -> Kind:
    return type(layer[0])


def _named(kind: Kind) -> str:
    return kind.kind.replace("_", " ")


def _one_kind(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    for place, layer in enumerate(layers, 1):
        kinds = sorted({_named(type(component)) for component in layer})
        if len(kinds) > 1:
            yield place, "one kind of component a layer", f"{' and '.join(kinds)} stand together; give each a layer"


def _alone(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    for place, layer in enumerate(layers, 1):
        if len(layer) > 1 and not layer[0].makes:
            name = _named(_kind(layer))
            yield place, f"a {name} stands alone in its layer", f"{len(layer)} stand here; keep one"


def _generators_first(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    if _kind(layers[0]) is not Generator:
        name = _named(_kind(layers[0]))
        yield 1, "generators stand in the first layer", f"it begins with a {name}; put generators before it"
    for place, layer in enumerate(layers[1:], 2):
        if _kind(layer) is Generator:
            yield place, "generators stand in the first layer only", "use a fuser here, or move them to layer 1"


def _candidates_first(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    """Nothing but unit tests may stand before the first generators."""
    for place, layer in enumerate(layers, 1):
        if _kind(layer) is Generator:
            return
        if _kind(layer) is not TestWriter:
            name = _named(_kind(layer))
            yield place, f"a {name} needs candidates", "put generators in a layer before it"
    yield 1, "a structure has generators", "put generators in the first layer"


def _critic_before_use(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    for place, layer in enumerate(layers, 1):
        if _kind(layer) is Critic:
            after = _kind(layers[place]) if place < len(layers) else None
            if after not in (Ranker, PairRanker, Fuser):
                found = "nothing follows" if after is None else f"a {_named(after)} follows"
                yield (
                    place,
                    "a critic stands before a ranker or a fuser",
                    f"{found}; take the critic out, or put a ranker or fuser behind it",
                )


def _tests_together(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    rule = "unit-test generator and evaluator stand together, the generator first"
    for place, layer in enumerate(layers, 1):
        after = _kind(layers[place]) if place < len(layers) else None
        before = _kind(layers[place - 2]) if place > 1 else None
        if _kind(layer) is TestWriter and after is not TestChecker:
            yield place, rule, "put an evaluator (e) in the layer behind it"
        if _kind(layer) is TestChecker and before is not TestWriter:
            yield place, rule, "put a unit-test generator (u) in the layer before it"


def _tests_used(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    for place, layer in enumerate(layers, 1):
        if _kind(layer) is TestWriter and not any(_kind(after) in (Generator, TestChecker) for after in layers[place:]):
            yield place, "unit tests are for generators or an evaluator", "put an evaluator (e) behind them"


def _tests_written(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    written = False
    for place, layer in enumerate(layers, 1):
        written = written or _kind(layer) is TestWriter
        if _kind(layer) is TestChecker:
            if not written:
                yield place, "an evaluator needs unit tests", "put a unit-test generator (u) before it"
            written = False


def _ends_with_candidates(layers: tuple[Layer, ...]) -> Iterator[Fault]:
    if _kind(layers[-1]) is Critic:
        yield (
            len(layers),
            "a critic is for those behind it",
            "nobody hears this one; take it out, or put a fuser behind it",
        )


_RULES: dict[Profile, tuple[Callable[[tuple[Layer, ...]], Iterator[Fault]], ...]] = {
    "paper": (_one_kind, _generators_first, _alone, _critic_before_use, _tests_together),
    "archon-code": (_one_kind, _alone, _candidates_first, _tests_written, _tests_used, _ends_with_candidates),
}
