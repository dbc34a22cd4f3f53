"""All structures of a finite space, in its own order."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.search.settings import SearchSettings
from treadle.search.space import Space, Structure, Trial


class Everything:
    """Proposes every structure once.

    Args:
        space: A finite space.
        seed: Not used: there is nothing to choose.
        settings: Not used.
    """

    def __init__(self, space: Space, seed: int, settings: SearchSettings) -> None:
        self._left = list(space.structures())

    def ask(self, count: int) -> Sequence[Structure]:
        """The next structures of the space."""
        asked, self._left = self._left[:count], self._left[count:]
        return asked

    def tell(self, trials: Sequence[Trial]) -> None:
        """Nothing is learned."""
