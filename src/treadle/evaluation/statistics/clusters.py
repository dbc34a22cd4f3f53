"""From scores to what a test may treat as independent: means per question, then means per group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from treadle.errors import UserError

FloatArray: TypeAlias = npt.NDArray[np.float64]
Floats: TypeAlias = Sequence[float] | FloatArray


@dataclass(frozen=True, slots=True)
class Clusters:
    """Cluster means with the number of questions in each; both of length m."""

    means: FloatArray
    sizes: FloatArray


def score_array(scores: Floats) -> FloatArray:
    """Scores as a one-dimensional array.

    Args:
        scores: Fractions 0–1; NaN stands for an infra failure.

    Raises:
        UserError: A score lies outside 0–1, or the shape is not one-dimensional.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise UserError(f"scores must be one value per question, not an array of shape {values.shape}")
    finite = values[~np.isnan(values)]
    if finite.size and (finite.min() < -1e-9 or finite.max() > 1 + 1e-9):
        raise UserError(
            f"scores must be fractions between 0 and 1, found {finite.min():g} to {finite.max():g}; "
            "divide points by 100 or let the scorer return fractions"
        )
    return np.clip(values, 0.0, 1.0)


def question_means(scores: Sequence[Floats] | FloatArray) -> FloatArray:
    """Mean of each question over its repeats, infra failures (NaN) left out; NaN where nothing was scored.

    Args:
        scores: n questions × R repeats.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.size == 0:
        return np.empty(0)
    scored = ~np.isnan(table)
    counts = scored.sum(axis=1)
    totals = np.where(scored, table, 0.0).sum(axis=1)
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)


def cluster_means(values: Floats, groups: Sequence[Hashable] | None) -> Clusters:
    """Means per group, in order of first appearance; without groups every question is its own cluster.

    Args:
        values: One finite number per question.
        groups: One label per question; ``None`` as a label means a group of its own.

    Raises:
        UserError: The lengths differ.
    """
    array = np.asarray(values, dtype=np.float64)
    if groups is None:
        return Clusters(array, np.ones(len(array)))
    if len(groups) != len(array):
        raise UserError(f"{len(array)} scores but {len(groups)} group labels; give one label per question")
    index: dict[Hashable, int] = {}
    keys = [(position,) if label is None else label for position, label in enumerate(groups)]
    codes = np.array([index.setdefault(key, len(index)) for key in keys], dtype=np.intp)
    sizes = np.bincount(codes, minlength=len(index)).astype(np.float64)
    totals = np.bincount(codes, weights=array, minlength=len(index))
    return Clusters(totals / np.maximum(sizes, 1.0), sizes)


def is_binary(values: FloatArray) -> bool:
    """Whether every value is 0 or 1."""
    return bool(np.all((values == 0.0) | (values == 1.0)))
