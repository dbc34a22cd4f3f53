"""Structures of a finite space in random order, without repetition."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from treadle.search.settings import SearchSettings
from treadle.search.space import Space, Structure, Trial


class RandomOrder:
    """Proposes structures drawn uniformly, none twice.

    Args:
        space: A finite space.
        seed: Seeds the order.
        settings: Not used.
    """

    def __init__(self, space: Space, seed: int, settings: SearchSettings) -> None:
        self._structures = space.structures()
        self._order = Random(seed).sample(range(len(self._structures)), len(self._structures))

    def ask(self, count: int) -> Sequence[Structure]:
        """The next structures of the order."""
        asked, self._order = self._order[:count], self._order[count:]
        return [self._structures[place] for place in asked]

    def tell(self, trials: Sequence[Trial]) -> None:
        """Nothing is learned."""
