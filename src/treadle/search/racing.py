"""Racing: structures meet the samples block by block, and what is clearly worse than another stops.

For every ordered pair the wealth of a bet that the challenger's mean is not above the incumbent's, a mixture over fixed
stakes, decides: it passes 1/α with probability at most α however often one looks (Ville's inequality). This is the
betting confidence sequence of Waudby-Smith and Ramdas (2024, JRSS B 86, section 4; arXiv 2010.09686) read at zero, the
only point a decision needs. Samples are taken as draws from the population the task stands for.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from treadle.evaluation.statistics.clusters import FloatArray, Floats, score_array

_SINGULAR = 1e-6
STAKES: FloatArray = np.array([0.08, 0.13, 0.2, 0.3, 0.42, 0.56, 0.72, 0.9])


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a structure stands.

    ``n`` counts the samples it met and ``scored`` those without infra failure; ``score`` is the raw mean over the
    latter, not to be compared between structures with different ``n``: ``effect`` is, the difference to the field from
    all shared samples. ``stopped_at`` is the ``n`` at which it was dropped.
    """

    structure: str
    n: int
    scored: int
    score: float | None
    effect: float | None
    stopped_at: int | None


@dataclass(frozen=True, slots=True)
class CentredDifference:
    """What a surrogate may be fitted on: the difference to the field, and its standard error, both as fractions."""

    structure: str
    n: int
    difference: float
    noise: float


class Race:
    """All structures meet the samples in one fixed block order; decisions fall at block ends only.

    A structure is dropped when the bet of any other against it passes that pair's limit on the samples both have met.
    For one structure the limits of all others add up to ``alpha``, so the truly best structure evaluated is dropped in
    at most a share ``alpha`` of searches, whoever is the incumbent, in whatever order blocks of different structures
    are told, and however many structures come later: the k-th opponent gets α / (k(k + 1)), or all the same when their
    number is known. The bound holds for structures proposed without a look at their own luck on these samples; what a
    strategy reads out of earlier results can only be undone by the fresh draws of selection and test.

    Args:
        block: Samples per block (the last may be shorter). Rows of one group are averaged to one sample before.
        alpha: The stated error, a fraction.
        structures: How many structures will race, where that is known.
    """

    def __init__(self, *, block: int, alpha: float = 0.05, structures: int | None = None) -> None:
        if block < 1 or not 0.0 < alpha < 1.0:
            raise ValueError("a race needs a block of at least one sample and an alpha between 0 and 1")
        self.block = block
        self.alpha = alpha
        self.structures = structures
        self._order: dict[str, int] = {}
        self._blocks: list[list[FloatArray]] = []
        self._stopped: dict[str, int] = {}
        self._wealth = np.zeros((8, 8, len(STAKES)))

    def enter(self, structure: str) -> None:
        """Give a structure its place in the order of arrival; ``tell`` does it for one that has none."""
        if structure in self._order:
            return
        if self.structures is not None and len(self._order) >= self.structures:
            raise ValueError(f"this race was declared for {self.structures} structures, {structure!r} is one more")
        self._order[structure] = len(self._order)
        self._blocks.append([])
        if len(self._order) > len(self._wealth):
            grown = np.zeros((2 * len(self._wealth), 2 * len(self._wealth), len(STAKES)))
            grown[: len(self._wealth), : len(self._wealth)] = self._wealth
            self._wealth = grown

    def tell(self, structure: str, block_results: Floats) -> tuple[str, ...]:
        """Record a structure's next block and decide.

        Args:
            structure: Its name.
            block_results: One fraction 0–1 per sample of the block, in the race's fixed order; NaN for infra.

        Returns:
            The structures that this block drops.

        Raises:
            ValueError: The block does not have the length that its place asks for.
            UserError: A score lies outside 0–1.
        """
        self.enter(structure)
        scores = score_array(block_results)
        place = len(self._blocks[self._order[structure]])
        self._check_length(structure, place, len(scores))
        self._blocks[self._order[structure]].append(scores)
        return self._decide(self._bet(structure, place, scores))

    def met(self, structure: str) -> int:
        """How many samples a structure has met."""
        return sum(len(block) for block in self._blocks[self._order[structure]]) if structure in self._order else 0

    def is_dropped(self, structure: str) -> bool:
        """Whether a structure must not meet another block."""
        return structure in self._stopped

    def dropped(self) -> dict[str, int]:
        """The structures dropped, in that order, with the number of samples at which each stopped."""
        return dict(self._stopped)

    def standing(self) -> tuple[Standing, ...]:
        """All structures, those still in the race first, each part by ``effect`` from the best down."""
        effects = {point.structure: point.difference for point in self.centred_differences()}
        rows: list[Standing] = []
        for name, position in self._order.items():
            scores = np.concatenate([*self._blocks[position], np.empty(0)])
            scored = scores[~np.isnan(scores)]
            mean = float(scored.mean()) if len(scored) else None
            rows.append(
                Standing(name, len(scores), len(scored), mean, effects.get(name), self._stopped.get(name)),
            )
        rows.sort(key=lambda row: (row.stopped_at is not None, math.inf if row.effect is None else -row.effect))
        return tuple(rows)

    def centred_differences(self, among: Collection[str] | None = None) -> tuple[CentredDifference, ...]:
        """Each structure's difference to the field, in order of arrival, for surrogates.

        Least squares of score = structure + sample: every score is centred by its sample's difficulty, so structures
        stopped after an easy or hard block are on one scale with the rest. The noise comes from the residuals, with one
        worst-case residual counted in.

        Args:
            among: The structures that are the field; all when not given.
        """
        field = self._order if among is None else {name: self._order[name] for name in among}
        names = [name for name, position in field.items() if self._blocks[position]]
        if not names:
            return ()
        table = np.full((len(names), max(self.met(name) for name in names)), np.nan)
        for row, name in enumerate(names):
            table[row, : self.met(name)] = np.concatenate(self._blocks[self._order[name]])
        effects, noise = _two_way(table)
        return tuple(
            CentredDifference(
                name, int(np.count_nonzero(~np.isnan(table[row]))), float(effects[row]), float(noise[row])
            )
            for row, name in enumerate(names)
            if not math.isnan(noise[row])
        )

    def _check_length(self, structure: str, place: int, length: int) -> None:
        told = next((len(blocks[place]) for blocks in self._blocks if len(blocks) > place), None)
        earlier = self._blocks[self._order[structure]]
        wrong = length != told if told is not None else not 0 < length <= self.block
        if wrong or (earlier and len(earlier[-1]) < self.block):
            raise ValueError(f"block {place + 1} of {structure!r} has {length} samples; all structures meet the same")

    def _bet(self, structure: str, place: int, scores: FloatArray) -> list[tuple[int, int]]:
        """Settle the block's bets with every structure that has met it; the pairs (challenger, incumbent) settled."""
        mine = self._order[structure]
        others = [k for k, blocks in enumerate(self._blocks) if k != mine and len(blocks) > place]
        if not others:
            return []
        theirs = np.stack([self._blocks[k][place] for k in others])
        ahead = np.nan_to_num(theirs - scores)[:, :, None] * STAKES
        self._wealth[others, mine] += np.log1p(ahead).sum(axis=1)
        self._wealth[mine, others] += np.log1p(-ahead).sum(axis=1)
        return [(k, mine) for k in others] + [(mine, k) for k in others]

    def _decide(self, settled: list[tuple[int, int]]) -> tuple[str, ...]:
        if not settled:
            return ()
        pairs = np.array(settled, dtype=np.intp)
        wealth = self._wealth[pairs[:, 0], pairs[:, 1]]
        evidence = logsumexp(wealth, axis=1) - math.log(len(STAKES))
        beaten = {i for (k, i), found in zip(settled, evidence, strict=True) if found >= self._limit(k, i)}
        names = list(self._order)
        fresh = [names[k] for k in sorted(beaten) if names[k] not in self._stopped]
        if len(self._stopped) + len(fresh) >= len(names):
            return ()
        for name in fresh:
            self._stopped[name] = self.met(name)
        return tuple(fresh)

    def _limit(self, challenger: int, incumbent: int) -> float:
        """The log wealth that drops: 1/α divided by the challenger's share among the incumbent's opponents."""
        rank = challenger + 1 if challenger < incumbent else challenger
        shares = rank * (rank + 1) if self.structures is None else self.structures - 1
        return math.log(shares / self.alpha)


def _two_way(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Row effects that sum to zero and their standard errors, by least squares on rows + columns; NaN is missing."""
    seen = ~np.isnan(table)
    scores = np.where(seen, table, 0.0)
    per_row, per_column = seen.sum(axis=1), np.maximum(seen.sum(axis=0), 1)
    weights = seen.astype(np.float64)
    shared: FloatArray = np.diag(per_row.astype(np.float64)) - (weights / per_column) @ weights.T
    inverse = _pseudo_inverse(shared)
    effects: FloatArray = inverse @ (weights * (scores - scores.sum(axis=0) / per_column)).sum(axis=1)
    columns: FloatArray = (weights * (scores - effects[:, None])).sum(axis=0) / per_column
    squares = float(np.sum(weights * (scores - effects[:, None] - columns) ** 2))
    freedom = int(seen.sum() - np.count_nonzero(per_row) - np.count_nonzero(seen.any(axis=0)) + 1)
    variance = (squares + 0.25) / (max(freedom, 0) + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.sqrt(variance * (np.diag(inverse) + 1.0 / (max(1, len(table)) * per_row)))
    return effects, np.where(per_row > 0, noise, np.nan)


def _pseudo_inverse(laplacian: FloatArray) -> FloatArray:
    """The pseudo-inverse of a matrix whose rows add up to zero.

    Where all structures met some sample with others, constant vectors are all that it maps to zero: a multiple of the
    matrix of ones makes it invertible, and is taken out again. That is an order of magnitude faster than eigenvalues,
    which are left for structures that share nothing.
    """
    size = len(laplacian)
    weight = float(np.trace(laplacian)) / size**2 or 1.0
    try:
        root = np.linalg.cholesky(laplacian + weight)
    except np.linalg.LinAlgError:
        root = np.zeros((1, 1))
    if np.diag(root).min() <= _SINGULAR * math.sqrt(weight * size):
        return np.linalg.pinv(laplacian, rcond=1e-9, hermitian=True).astype(np.float64)
    lower: FloatArray = np.asarray(solve_triangular(root, np.eye(size), lower=True), dtype=np.float64)
    return lower.T @ lower - 1.0 / (weight * size**2)
