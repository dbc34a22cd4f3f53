"""What the layers of a structure do on the simulated surface, on thousands of questions at once.

The arithmetic is that of single replies (`treadle.models.simulated_mechanism`); here is where its noise comes from and
which candidates go on. The same draw of the same model in the same kind of layer has the same luck in all structures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from treadle.errors import UserError
from treadle.models.simulated_mechanism import Array, Crowd, Mask, fused, level, opinion, opinions, passed, standing
from treadle.models.simulated_questions import uniform
from treadle.models.simulated_surface import STATEMENTS, Surface, Talent, talents, tilted
from treadle.workflows.archon.components.base import Component
from treadle.workflows.archon.components.critic import Critic
from treadle.workflows.archon.components.fuser import Fuser
from treadle.workflows.archon.components.generator import Generator
from treadle.workflows.archon.components.ranker import PairRanker, Ranker
from treadle.workflows.archon.components.unit_tests import TestChecker, TestWriter
from treadle.workflows.archon.components.verifier import Verifier

Cast = tuple[tuple[Component, int], ...]
"""The components of a layer, each with its model's place from 0."""
_LARGEST = 15.0
"""No opinion is further from 0; who is not there stands behind all."""


@dataclass(frozen=True, slots=True)
class State:
    """What layers leave: candidates, check statements, and the kinds of the layers before."""

    crowd: Crowd
    statements: Array | None = None
    kinds: tuple[type[Component], ...] = ()


@dataclass(slots=True)
class Layers:
    """The surface with many questions.

    Args:
        surface: The parameters as they were given.
        questions: How many.
        null: Whether nothing that layers do makes a difference.
    """

    surface: Surface
    questions: int
    null: bool = False
    _kept: dict[Any, Array] = field(default_factory=dict[Any, Array], repr=False)

    def start(self) -> State:
        """Before the first layer."""
        nobody = np.empty((0, self.questions), np.float32)
        return State(Crowd(nobody, nobody))

    def after(self, state: State, layer: Cast) -> State:
        """What a layer makes of a state."""
        if self.null:
            return state
        component, place = layer[0]
        kind = type(component)
        if component.makes:
            means, spread = self._made(state, layer)
            quality = means + spread * self._draws("luck", kind, state, layer)
            looks = quality + self.surface.gloss * self._draws("gloss", kind, state, layer)
            after = State(Crowd(quality, looks), state.statements)
        else:
            after = self._single(state, component, place)
        return replace(after, kinds=(*state.kinds, kind))

    def chance(self, state: State, layer: Cast) -> Array:
        """The chance on each question that the first candidate after a last layer is right; its luck is integrated."""
        if self.null:
            return self._null_chance()
        component, place = layer[0]
        if isinstance(component, Generator | Fuser):
            means, spread = self._made(state, ((replace(component, samples=1), place),))
            return chance_of(means[0], spread)
        crowd = self.after(state, layer).crowd
        if crowd.present is None:
            return chance_of(crowd.quality[0])
        first = crowd.present.argmax(axis=0)[None]
        return chance_of(np.take_along_axis(crowd.quality, first, axis=0)[0])

    def letters(self, quality: Array) -> Array:
        """The answer letter of each reply: 0 the right one, 1 the question's popular mistake, others from 2."""
        wrong = self.surface.answers - 1
        noise, mistake, copied = (self._normal((f"letter {what}",), len(quality)) for what in ("", "wrong", "copied"))
        others = np.minimum(ndtr(mistake) * wrong, wrong - 1).astype(np.int32) + 1
        mistaken = np.where(ndtr(copied) < self.surface.copied, 1, others)
        return np.where(quality + noise > 0, 0, mistaken)

    def _null_chance(self) -> Array:
        surface = self.surface
        known = surface.luck * math.sqrt(surface.shared) * self._laid_out("luck")
        rest = surface.luck * math.sqrt(1 - surface.shared)
        return chance_of(known - surface.spread * self._laid_out("difficulty"), rest)

    def _made(self, state: State, layer: Cast) -> tuple[Array, float]:
        """The qualities that generators or fusers come to, and the standard deviation of their draws' own luck."""
        surface = tilted(self.surface)
        places = [place for component, place in layer for _ in range(component.drafts)]
        if isinstance(layer[0][0], Generator):
            return self._levels(places, fuse=False), surface.draw_luck
        known = [talents(self.surface)[place] for place in places]
        return fused(surface, state.crowd, known, self._levels(places, fuse=True)), surface.fuse_noise

    def _single(self, state: State, component: Component, place: int) -> State:
        crowd, depth = state.crowd, state.kinds.count(type(component))
        talent, surface = talents(self.surface)[place], tilted(self.surface)

        def noise() -> Array:
            return self._normal((component.kind, depth, place), len(crowd.quality))

        match component:
            case Critic():
                estimate = opinions(surface, crowd, talent.critic_noise, noise())
                return replace(state, crowd=replace(crowd, estimate=estimate))
            case Ranker():
                order = standing(surface, crowd, talent.rank_noise, noise())
                return replace(state, crowd=in_order(crowd, order, component.top_k))
            case PairRanker():
                order = self._wins(crowd, talent, depth, place) + self._chance_order(crowd, depth)
                return replace(state, crowd=in_order(crowd, order, component.top_k))
            case Verifier():
                found = opinion(crowd, talent.verify_noise, noise()) > talent.threshold
                return replace(state, crowd=passing(crowd, found, component.top_k))
            case TestWriter():
                count = component.statements or STATEMENTS
                return replace(state, statements=self._statements(count, talent, depth, place))
            case TestChecker():
                if state.statements is None:
                    return state
                seen = opinion(crowd, talent.test_noise, noise())
                counts = sum(passed(seen, least) for least in state.statements)
                order = counts + self._chance_order(crowd, depth)
                return State(in_order(crowd, order, component.top_k))
            case _:
                raise UserError(f"the simulated surface has no mechanism for a {component.kind}")

    def _levels(self, places: Sequence[int], *, fuse: bool) -> Array:
        """The level of each writer on each question, writers × questions."""
        key = ("levels", fuse, *places)
        if key not in self._kept:
            known = talents(self.surface)
            self._kept[key] = np.stack([self._level(place, known[place], fuse=fuse) for place in places])
        return self._kept[key]

    def _level(self, place: int, talent: Talent, *, fuse: bool) -> Array:
        key = ("level", fuse, place)
        if key not in self._kept:
            difficulty = self.surface.spread * self._laid_out("difficulty")
            skill = talent.fuse_skill if fuse else talent.skill
            found = level(self.surface, skill, difficulty, self._laid_out("luck"), self._laid_out(f"luck of {place}"))
            self._kept[key] = found.astype(np.float32)
        return self._kept[key]

    def _laid_out(self, what: str) -> Array:
        """A standard normal number for each question; together they are exactly as spread as such numbers should be."""
        order = self._rng(what).permutation(self.questions)
        return ndtri((order + 0.5) / self.questions)

    def _draws(self, what: str, kind: type[Component], state: State, layer: Cast) -> Array:
        """The draws' own luck: of each model its first draws, whichever component asks for them."""
        depth = state.kinds.count(kind)
        wanted = tuple(place for component, place in layer for _ in range(component.drafts))
        key = ("draws", what, kind, depth, *wanted)
        if key not in self._kept:
            taken = [wanted[:index].count(place) for index, place in enumerate(wanted)]
            rows = [
                self._normal((what, kind.kind, depth, place), nth + 1)[nth]
                for place, nth in zip(wanted, taken, strict=True)
            ]
            self._kept[key] = np.stack(rows)
        return self._kept[key]

    def _normal(self, key: tuple[object, ...], rows: int) -> Array:
        """Standard normal numbers, rows × questions; more rows begin with the same ones."""
        known = self._kept.get(key)
        if known is None or len(known) < rows:
            least = max(rows, 12)
            known = self._rng(*key).standard_normal((least, self.questions), dtype=np.float32)
            self._kept[key] = known
        return known[:rows]

    def _statements(self, count: int, talent: Talent, depth: int, place: int) -> Array:
        """The qualities from which statements pass, statements × questions; minus infinity where one tells nothing."""
        key = ("statements", count, depth, place)
        if key not in self._kept:
            hardness = tilted(self.surface).hardness * self._normal(("hardness", depth, place), count)
            telling = chance_of(self._normal(("telling", depth, place), count)) < talent.telling
            self._kept[key] = np.where(telling, hardness, np.float32(-np.inf))
        return self._kept[key]

    def _wins(self, crowd: Crowd, talent: Talent, depth: int, place: int) -> Array:
        """How many comparisons each candidate wins; every pair is compared in both orders."""
        count = len(crowd.quality)
        wins = np.zeros(crowd.quality.shape, np.float32)
        for first in range(count):
            for second in range(count):
                if first != second:
                    seen = self._pair(crowd, talent, ("pair", depth, place, first, second), [first, second])
                    wins[first] += seen
                    wins[second] += 1 - seen
        return wins

    def _chance_order(self, crowd: Crowd, depth: int) -> Array:
        """Numbers from 0 to 1, by which ties are drawn."""
        key = ("ties", depth, len(crowd.quality))
        if key not in self._kept:
            self._kept[key] = chance_of(self._normal(("tie", depth), len(crowd.quality)))
        return self._kept[key]

    def _pair(self, crowd: Crowd, talent: Talent, key: tuple[object, ...], pair: list[int]) -> Array:
        two = Crowd(crowd.quality[pair], crowd.looks[pair])
        order = standing(tilted(self.surface), two, talent.rank_noise, self._normal(key, 2))
        won = order[0] > order[1]
        if crowd.present is not None:
            won = (won & crowd.present[pair[0]]) | ~crowd.present[pair[1]]
        return won.astype(np.float32)

    def _rng(self, *key: object) -> np.random.Generator:
        return np.random.Generator(np.random.SFC64(int(uniform("truth", self.surface.seed, *key) * 2**62)))


def chance_of(quality: Array, spread: float = 0.0) -> Array:
    """The chance that replies are right, given their quality, or its mean and standard deviation."""
    found: Array = ndtr(quality / math.sqrt(1 + spread * spread))
    return found


def in_order(crowd: Crowd, order: Array, keep: int | None) -> Crowd:
    """The candidates in falling order of a number that each has on each question, the first ``keep`` of them."""
    count = len(crowd.quality)
    bits = count.bit_length()
    scale = 2.0 ** (26 - bits)
    if crowd.present is not None:
        order = np.where(crowd.present, order, -_LARGEST)
    keys = (np.clip(-order, -_LARGEST, _LARGEST) * scale).astype(np.int32) * (1 << bits)
    keys += np.arange(count, dtype=np.int32)[:, None]
    keys.sort(axis=0)
    places = (keys & ((1 << bits) - 1))[:keep]
    return Crowd(
        np.take_along_axis(crowd.quality, places, axis=0),
        np.take_along_axis(crowd.looks, places, axis=0),
        None if crowd.present is None else np.take_along_axis(crowd.present, places, axis=0),
        None if crowd.estimate is None else np.take_along_axis(crowd.estimate, places, axis=0),
    )


def passing(crowd: Crowd, found: Mask, keep: int | None) -> Crowd:
    """The candidates that pass, the first ``keep`` of them; all where none does."""
    there = found if crowd.present is None else found & crowd.present
    if keep is not None:
        there = there & (there.cumsum(axis=0) <= keep)
    nobody = ~there.any(axis=0)
    return replace(crowd, present=there | (nobody if crowd.present is None else nobody & crowd.present))
