"""A Gaussian process of scores over the points of a grid."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import erfcx, ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from treadle.evaluation.statistics.clusters import FloatArray
from treadle.search.strategies.proposals import Places

FITTED_ON = 120
STEPS = 25
BELIEF_NOISE = 1e-3
LEAST_SCALE = 1e-4
AMPLITUDE, LENGTH, OWN = (0.0, 1.0), (0.7, 0.7), (-3.5, 1.0)
"""Log-normal priors (middle and spread of the logarithm) of the kernel's parameters, scores scaled to unit variance."""


class Surrogate:
    """Score = smooth function of the features + a structure's own part + known noise.

    The smooth part has a Matérn 5/2 kernel with a length per feature, the own part a variance that is estimated with
    them (Rasmussen and Williams 2006, sections 2.2, 4.2 and 5.4). The parameters are the most probable ones under weak
    priors, since a dozen results leave a length per feature open; they are found again only when the results have
    grown by a fifth, from the last ones on, and with many results on an even choice of them.

    Args:
        features: Structures × features, each 0 to 1.
    """

    def __init__(self, features: FloatArray) -> None:
        self._features = features
        self._kernel: Any = None
        self._found_at = 0
        self._fit: Any = None
        self._middle, self._scale = 0.0, 1.0

    def learn(self, places: Places, scores: FloatArray, noise: FloatArray) -> FloatArray:
        """Condition on results.

        Args:
            places: Which structures; at least one.
            scores: Of these, fractions.
            noise: Their standard errors, above zero.

        Returns:
            What these structures' own scores are thought to be without the noise.
        """
        self._middle = float(scores.mean())
        self._scale = max(float(scores.std()), LEAST_SCALE)
        if self._kernel is None or len(places) >= self._found_at + max(1, self._found_at // 5):
            self._found_at = len(places)
            few = np.unique(np.linspace(0, len(places) - 1, FITTED_ON).astype(np.intp))
            self._kernel = self._regress(places[few], scores[few], noise[few], search=True).kernel_
        self._fit = self._regress(places, scores, noise)
        return scores - noise**2 * self._fit.alpha_ / self._scale

    def believe(self, places: Places, scores: FloatArray, noise: FloatArray, pending: list[int]) -> FloatArray:
        """Condition on results and, for those that are pending, on what is expected of them.

        The kriging believer (Ginsbourger, Le Riche and Carraro 2010). To be called after `learn`.

        Returns:
            The scores believed.
        """
        waiting = np.array(pending, dtype=np.intp)
        believed, _ = self.predict(waiting)
        self._fit = self._regress(
            np.concatenate([places, waiting]),
            np.concatenate([scores, believed]),
            np.concatenate([noise, np.full(len(waiting), BELIEF_NOISE * self._scale)]),
        )
        return believed

    def predict(self, places: Places) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the scores of structures without results, their own parts with them."""
        kernel = self._fit.kernel_
        smooth, own = kernel.k1, float(kernel.k2.noise_level)
        across: FloatArray = smooth(self._features[places], self._fit.X_train_)
        mean = self._middle + self._scale * (across @ self._fit.alpha_)
        solve: Any = solve_triangular
        shrunk: FloatArray = solve(self._fit.L_, across.T, lower=True, check_finite=False, overwrite_b=True)
        variance: FloatArray = smooth.diag(self._features[places]) - np.einsum("ij,ij->j", shrunk, shrunk)
        return mean, self._scale * np.sqrt(np.maximum(variance, 0.0) + own)

    def _regress(self, places: Places, scores: FloatArray, noise: FloatArray, *, search: bool = False) -> Any:
        process: Any = GaussianProcessRegressor
        regressor = process(
            self._kernel or self._first_kernel(),
            alpha=(noise / self._scale) ** 2 + 1e-8,
            optimizer=self._most_probable if search else None,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return regressor.fit(self._features[places], (scores - self._middle) / self._scale)

    def _first_kernel(self) -> Any:
        matern: Any = Matern
        lengths = np.ones(self._features.shape[1])
        return ConstantKernel(1.0, (0.05, 20.0)) * matern(lengths, (0.1, 10.0), nu=2.5) + WhiteKernel(0.03, (1e-3, 1.0))

    def _most_probable(
        self, loss: Callable[[FloatArray], tuple[float, FloatArray]], initial_theta: FloatArray, bounds: FloatArray
    ) -> tuple[FloatArray, float]:
        priors = np.array([AMPLITUDE, *[LENGTH] * self._features.shape[1], OWN])
        middle, spread = priors.T

        def penalised(theta: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = loss(theta)
            away = (theta - middle) / spread
            return value + 0.5 * float(away @ away), gradient + away / spread

        search: Any = minimize
        options = {"maxiter": STEPS}
        found = search(penalised, initial_theta, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return found.x, float(found.fun)


def log_expected_improvement(mean: FloatArray, deviation: FloatArray, best: float) -> FloatArray:
    """Logarithm of the expected improvement over ``best``; it keeps an order where the improvement itself underflows.

    Ament et al. 2023 (arXiv 2310.20708).

    Args:
        mean: Of the scores.
        deviation: Standard deviations, above zero.
        best: The score to beat, in the same unit.
    """
    z = (mean - best) / deviation
    near, below = np.maximum(z, -1.0), np.minimum(z, -1.0)
    density = np.exp(-0.5 * near**2) / np.sqrt(2 * np.pi)
    mills: FloatArray = np.sqrt(np.pi / 2) * np.asarray(erfcx(-below / np.sqrt(2)), dtype=np.float64)
    tail = 1.0 + below * mills
    far = -0.5 * below**2 - 0.5 * np.log(2 * np.pi) + np.log(np.where(below > -1e3, tail, below**-2.0))
    close: FloatArray = np.log(density + near * np.asarray(ndtr(near), dtype=np.float64))
    return np.add(np.log(deviation), np.where(z > -1.0, close, far), dtype=np.float64)
