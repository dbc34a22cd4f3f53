"""Optuna's tree-structured Parzen estimator as a strategy."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from treadle.errors import UserError
from treadle.search.settings import SearchSettings
from treadle.search.space import Space, Structure, Trial
from treadle.search.strategies.objective import Objective
from treadle.search.strategies.proposals import Proposals

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial


class ParzenEstimator:
    """Proposes where good results are denser than bad ones (Bergstra et al., NeurIPS 2011), by optuna's `TPESampler`.

    Every axis is a categorical choice, all axes are sampled together. A choice that is no valid point, or one that was
    proposed before, goes to the free point that differs in the fewest axes, then by the fewest steps along them.
    Pending points count as bad ones, so that batches spread.

    Args:
        space: A finite space with axes.
        seed: Seeds the sampler.
        settings: Objective, λ and margin.

    Raises:
        UserError: Optuna is not installed, or the space has no axes.
    """

    def __init__(self, space: Space, seed: int, settings: SearchSettings) -> None:
        try:
            import optuna
        except ImportError:
            raise UserError("--method tpe needs the extra `tpe`: pip install 'treadle[tpe]'") from None
        self._proposals = Proposals(space)
        self._objective = Objective.of(settings)
        self._seed = seed
        self._codes = self._proposals.codes
        self._choices: dict[str, BaseDistribution] = {
            axis: optuna.distributions.CategoricalDistribution(range(len(values)))
            for axis, values in self._proposals.grid.axes.items()
        }

    def ask(self, count: int) -> Sequence[Structure]:
        """The estimator's next choices."""
        asked: list[Structure] = []
        while len(asked) < count and self._proposals.free.any():
            asked.append(self._proposals.propose(self._nearest(self._choice())))
        return asked

    def tell(self, trials: Sequence[Trial]) -> None:
        """Learn results; a structure of which nothing was scored is forgotten."""
        self._proposals.tell(trials)

    def _choice(self) -> list[int]:
        import optuna

        number = len(self._proposals.order)
        seed = int(np.random.SeedSequence([self._seed, number]).generate_state(1)[0])
        with _silent():
            sampler = optuna.samplers.TPESampler(multivariate=True, constant_liar=True, seed=seed)
            study = optuna.create_study(direction="maximize", sampler=sampler)
            study.add_trials(self._history())
            choice = study.ask(self._choices).params
        return [int(choice[axis]) for axis in self._choices]

    def _history(self) -> list[FrozenTrial]:
        from optuna.trial import TrialState, create_trial

        utilities = self._objective.utilities(self._proposals)
        ended = [
            create_trial(params=self._params(place), distributions=self._choices, value=utility)
            for place, utility in utilities.items()
        ]
        return ended + [
            create_trial(state=TrialState.RUNNING, params=self._params(place), distributions=self._choices)
            for place in self._proposals.pending
        ]

    def _params(self, place: int) -> dict[str, int]:
        return dict(zip(self._choices, self._codes[place].tolist(), strict=True))

    def _nearest(self, choice: Sequence[int]) -> int:
        left = self._proposals.left
        apart = np.abs(self._codes[left] - np.array(choice))
        return int(left[np.lexsort((left, apart.sum(axis=1), np.count_nonzero(apart, axis=1)))[0]])


@contextmanager
def _silent() -> Generator[None]:
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)
