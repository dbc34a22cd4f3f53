"""What an Archon structure is without a part: a layer, a component of one, half of its samples, a prompt of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treadle.errors import UserError
from treadle.workflows.archon.components.base import Component
from treadle.workflows.archon.components.critic import Critic
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import PairRanker, Ranker
from treadle.workflows.archon.components.unit_tests import TestChecker, TestWriter
from treadle.workflows.archon.one_line import one_line
from treadle.workflows.archon.rules import check
from treadle.workflows.archon.structure import Archon, Layer

Kind = type[Component]
Place = tuple[int, int]
"""A layer, and a component in it, both from 0."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A part that can be taken out or weakened.

    Attributes:
        name: The part in words, such as ``"layer 3: ranker (r5)"``.
        layers: Places of the layers that go.
        members: Places of the components that go.
        changes: Components that change: place, setting, new value.
    """

    name: str
    layers: frozenset[int] = frozenset()
    members: frozenset[Place] = frozenset()
    changes: tuple[tuple[Place, str, Any], ...] = ()


def cuts(structure: Archon) -> tuple[Cut, ...]:
    """The parts of a structure without which it still works, each once, from the first layer to the last.

    A layer takes with it what would have no use without it: a critic whose words nobody reads any more, unit tests
    without an evaluator, an evaluator without unit tests, all but the first answer of a layer that becomes the last.

    Args:
        structure: A sound structure.
    """
    found: list[Cut] = []
    seen = {structure}
    arriving = _arriving(structure)
    for place, layer in enumerate(structure.layers):
        last = place == len(structure.layers) - 1
        for cut in (*_removals(structure, place), *_changes(place, layer, 0 if last else arriving[place])):
            left = cut_out(structure, [cut])
            if left is not None and left not in seen:
                seen.add(left)
                found.append(cut)
    return tuple(found)


def cut_out(structure: Archon, parts: Collection[Cut]) -> Archon | None:
    """A structure without some of its parts.

    Args:
        structure: The whole structure.
        parts: What to take out of it, all at once.

    Returns:
        ``None`` where what is left keeps no construction rules.
    """
    gone = _with_idle(structure.layers, frozenset[int]().union(*(part.layers for part in parts)))
    members = frozenset[Place]().union(*(part.members for part in parts))
    changed: dict[Place, dict[str, Any]] = {}
    for where, setting, value in (change for part in parts for change in part.changes):
        changed.setdefault(where, {})[setting] = value
    layers = tuple(
        tuple(
            replace(component, **changed.get((place, member), {}))
            for member, component in enumerate(layer)
            if (place, member) not in members
        )
        for place, layer in enumerate(structure.layers)
        if place not in gone
    )
    if len(structure.layers) - 1 in gone and layers:
        layers = (*layers[:-1], _answering(layers[-1]))
    left = Archon(layers, remarks=structure.remarks)
    try:
        check(left, "archon-code")
    except UserError:
        return None
    return left


def _answering(layer: Layer) -> Layer:
    """A layer that has become the last: only its first candidate is the answer, so nobody writes another."""
    first = layer[0] if layer else None
    return (replace(first, samples=1),) if isinstance(first, Generator | Fuser) else layer


def _removals(structure: Archon, place: int) -> Iterator[Cut]:
    gone = sorted(_with_idle(structure.layers, frozenset({place})))
    listed = ", ".join(_described(structure.layers[each]) for each in gone)
    numbers = ", ".join(str(each + 1) for each in gone[:-1]) + f"{' and ' if gone[1:] else ''}{gone[-1] + 1}"
    yield Cut(f"layer{'s' if len(gone) > 1 else ''} {numbers}: {listed}", layers=frozenset(gone))
    layer = structure.layers[place]
    if len(layer) > 1:
        for member, component in enumerate(layer):
            name = f"layer {place + 1}, component {member + 1}: {_described((component,))}"
            yield Cut(name, members=frozenset({(place, member)}))


def _changes(place: int, layer: Layer, arriving: int) -> Iterator[Cut]:
    """Numbers halved and own instructions dropped; ``arriving`` candidates are there to be kept."""
    begin = f"layer {place + 1}:"
    halved = [(member, one.drafts // 2) for member, one in enumerate(layer) if one.drafts > 1]
    if halved:
        before = sum(one.drafts for one in layer)
        after = before - sum(layer[member].drafts - samples for member, samples in halved)
        name = f"{begin} {before} {_kind(layer[0])}s -> {after}"
        yield Cut(name, changes=tuple(((place, member), "samples", samples) for member, samples in halved))
    for member, one in enumerate(layer):
        top_k: int | None = getattr(one, "top_k", None)
        kept = min(top_k or 0, arriving)
        if kept > 1:
            name = f"{begin} {_kind(one)} keeps {top_k} -> {kept // 2}"
            yield Cut(name, changes=(((place, member), "top_k", kept // 2),))
        if isinstance(one, TestWriter) and (one.statements or 0) > 1:
            fewer = (one.statements or 0) // 2
            name = f"{begin} {one.statements} statements -> {fewer}"
            yield Cut(name, changes=(((place, member), "statements", fewer),))
    yield from _instructions(place, layer)


def _instructions(place: int, layer: Layer) -> Iterator[Cut]:
    for prompt in dict.fromkeys(one.prompt for one in layer if one.prompt is not None):
        own = [member for member, one in enumerate(layer) if one.prompt == prompt]
        which = "" if len(own) == len(layer) else f" of component {', '.join(str(member + 1) for member in own)}"
        name = f"layer {place + 1}: own prompt{which} ({_kind(layer[own[0]])})"
        yield Cut(name, changes=tuple(((place, member), "prompt", None) for member in own))
    brief = [member for member, one in enumerate(layer) if isinstance(one, Fuser) and one.brief]
    if brief:
        name = f"layer {place + 1}: the request to be brief ({_kind(layer[0])})"
        yield Cut(name, changes=tuple(((place, member), "brief", False) for member in brief))


def _with_idle(layers: Sequence[Layer], gone: frozenset[int]) -> frozenset[int]:
    """Layers that go, and those that have no use without them."""
    before = frozenset(_idle(enumerate(layers)))
    while True:
        left = [(place, layer) for place, layer in enumerate(layers) if place not in gone]
        more = frozenset(_idle(left)) - before
        if not more:
            return gone
        gone |= more


def _idle(layers: Iterable[tuple[int, Layer]]) -> Iterator[int]:
    """Critics that nobody reads, unit tests that nobody uses, and evaluators that have none."""
    standing = list(layers)
    kinds = [type(layer[0]) for _, layer in standing]
    for number, (place, _) in enumerate(standing):
        kind, after, before = kinds[number], kinds[number + 1 :], kinds[:number][::-1]
        if (
            (kind is Critic and not _met(after, (Ranker, PairRanker, Fuser), (Generator, Critic)))
            or (kind is TestWriter and not _met(after, (TestChecker, Generator), (TestWriter,)))
            or (kind is TestChecker and not _met(before, (TestWriter,), (TestChecker,)))
        ):
            yield place


def _met(kinds: Sequence[Kind], wanted: tuple[Kind, ...], ends: tuple[Kind, ...]) -> bool:
    """Whether one of the kinds wanted comes before one that ends the matter."""
    return next((kind in wanted for kind in kinds if kind in wanted or kind in ends), False)


def _arriving(structure: Archon) -> list[int]:
    """How many candidates each layer meets when all pass."""
    arriving: list[int] = []
    candidates = 0
    for layer in structure.layers:
        arriving.append(candidates)
        candidates = sum(one.count(candidates, candidates, candidates).left for one in layer)
    return arriving


def _described(layer: Layer) -> str:
    drafts = sum(one.drafts for one in layer)
    text = one_line(Archon((layer,)))
    return f"{drafts} {_kind(layer[0])}s ({text})" if drafts > 1 else f"{_kind(layer[0])} ({text})"


def _kind(component: Component) -> str:
    return component.kind.replace("_", " ")
