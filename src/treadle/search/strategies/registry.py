"""Which methods search which spaces."""

from __future__ import annotations

from collections.abc import Callable

from treadle.errors import NotYetError, UnknownNameError, UserError
from treadle.search.settings import SearchSettings
from treadle.search.space import Space, Strategy
from treadle.search.strategies.everything import Everything
from treadle.search.strategies.random import RandomOrder


def _greedy(space: Space, seed: int, settings: SearchSettings) -> Strategy:
    from treadle.search.strategies.greedy import Greedy

    return Greedy(space, seed, settings)


def _bayes(space: Space, seed: int, settings: SearchSettings) -> Strategy:
    from treadle.search.strategies.bayes import Bayes

    return Bayes(space, seed, settings)


def _tpe(space: Space, seed: int, settings: SearchSettings) -> Strategy:
    from treadle.search.strategies.tpe import ParzenEstimator

    return ParzenEstimator(space, seed, settings)


_STRATEGIES: dict[str, Callable[[Space, int, SearchSettings], Strategy]] = {
    "all": Everything,
    "random": RandomOrder,
    "greedy": _greedy,
    "bayes": _bayes,
    "tpe": _tpe,
}
_METHODS = {
    "workflows": ("all", "random"),
    "archon": ("random", "greedy", "bayes", "tpe"),
    "code": ("tree", "uct", "thompson", "gepa"),
}


def check_method(space_kind: str, method: str) -> None:
    """Whether a method searches a kind of space.

    Raises:
        UnknownNameError: When there is no such method.
        UserError: When the method is for other spaces.
    """
    known = [name for methods in _METHODS.values() for name in methods]
    if method not in known:
        raise UnknownNameError("method", method, known)
    fitting = _METHODS[space_kind]
    if method not in fitting:
        raise UserError(f"--method {method} does not search {space_kind}: spaces; it takes {' or '.join(fitting)}")


def open_strategy(method: str, space: Space, seed: int, settings: SearchSettings) -> Strategy:
    """The strategy of a method.

    Args:
        method: Its name; `check_method` was asked before.
        space: What it proposes from.
        seed: Seeds its choices.
        settings: How the search is run: objective, λ, margin, batch, schedule.
    """
    if method not in _STRATEGIES:
        raise NotYetError(f"--method {method}")
    return _STRATEGIES[method](space, seed, settings)
