"""True scores of many structures on the simulated surface, with what they have in common worked out once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treadle.models.simulated_mechanism import Array
from treadle.tasks.simulated_layers import Cast, Layers, State, chance_of
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.structure import Archon, Layer


def true_chances(
    layers: Layers, structures: Sequence[Archon], cast: Callable[[Layer], Cast], keep: Callable[[Array], Any]
) -> list[Any]:
    """What is kept of the chances of a right answer on every question, for each structure.

    Structures are gone through in an order in which those that begin alike are neighbours, so that only the states
    along one path of layers are held.

    Args:
        layers: The surface.
        structures: The structures.
        cast: Says who plays the components of a layer.
        keep: What is kept of one structure's chances, an array over questions; such as their mean.
    """
    paths, unique = _numbered(structures)
    players = [cast(layer) for layer in unique]
    kept: list[Any] = [None] * len(paths)
    states: list[State] = [layers.start()]
    known: tuple[int, ...] = ()
    for place in sorted(range(len(paths)), key=paths.__getitem__):
        path = paths[place]
        del states[_common(path[:-1], known) + 1 :]
        while len(states) < len(path):
            states.append(layers.after(states[-1], players[path[len(states) - 1]]))
        known = path[:-1]
        kept[place] = keep(layers.chance(states[-1], players[path[-1]]))
    return kept


def voted(layers: Layers, place: int, votes: int) -> Array:
    """The chances of the answer that most of a model's draws give: the first draw with the winning letter.

    Args:
        layers: The surface.
        place: The model's place from 0.
        votes: How many draws; one is but asked.
    """
    generators: Cast = ((Generator(samples=votes), place),)
    if votes == 1 or layers.null:
        return layers.chance(layers.start(), generators)
    quality = layers.after(layers.start(), generators).crowd.quality
    letters = layers.letters(quality)
    same = np.stack([(letters == letter).sum(axis=0) for letter in letters])
    return chance_of(np.take_along_axis(quality, same.argmax(axis=0)[None], axis=0)[0])


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many places two paths have in common from their beginning."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def _numbered(structures: Sequence[Archon]) -> tuple[list[tuple[int, ...]], list[Layer]]:
    """Each structure as numbers of its layers, and the layers; equal ones have one number."""
    by_identity: dict[int, int] = {}
    by_value: dict[Layer, int] = {}
    paths: list[tuple[int, ...]] = []
    alive: list[Archon] = []
    for structure in structures:
        alive.append(structure)
        path: list[int] = []
        for layer in structure.layers:
            number = by_identity.get(id(layer))
            if number is None:
                number = by_identity[id(layer)] = by_value.setdefault(layer, len(by_value))
            path.append(number)
        paths.append(tuple(path))
    return paths, list(by_value)


def score(chances: Array) -> float:
    """The mean over questions."""
    return float(np.mean(chances))
