"""How quality goes through a structure: the arithmetic of fusers, critics, rankers, verifiers and unit tests.

Every function takes arrays of shape candidates × questions and the noise it is to use, so that a single reply (one
question, noise from a hash) and the true score of a structure (thousands of questions at once) are the same arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treadle.models.simulated_surface import Surface, Talent

Array = npt.NDArray[np.floating[Any]]
COMFORTABLE = 4.0
"""The number of candidates at which critics and rankers err as much as their noise says."""
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Crowd:
    """Candidates: their qualities, and what is known of them.

    Attributes:
        quality: Candidates × questions, in their order.
        looks: What the qualities look like to everybody who reads the candidates: shared mistakes.
        present: Which of them are there; all where there is none.
        estimate: What a critic said of each; ``None`` where nobody did.
    """

    quality: Array
    looks: Array
    present: Mask | None = None
    estimate: Array | None = None


def level(surface: Surface, skill: float, difficulty: Any, shared_luck: Any, own_luck: Any) -> Any:
    """What a model's replies to a question come to before a draw's own luck.

    Args:
        surface: The parameters.
        skill: The model's, in the part that it plays.
        difficulty: The question's.
        shared_luck: The question's standard normal number, the same for all models.
        own_luck: The model's standard normal number for the question.
    """
    luck = math.sqrt(surface.shared) * shared_luck + math.sqrt(surface.own) * own_luck
    return skill - difficulty + surface.luck * luck


def fused(surface: Surface, crowd: Crowd, fusers: Sequence[Talent], levels: Array) -> Array:
    """The qualities that fusers make of candidates, before their draws' own luck.

    A fuser starts between its candidates' mean and the best of them, as far towards it as its ``pull`` goes; from
    there it goes towards the ceiling of its own level plus ``reach``, up or down, by a rate that grows with how much
    the candidates differ and with accurate critiques. What is above its capacity costs, and so does every fusing.

    Args:
        surface: The parameters, tilted.
        crowd: What is fused.
        fusers: Who fuses.
        levels: Fusers × questions: the level that each fuses at (see `level`).
    """
    quality, present, estimate = crowd.quality, crowd.present, crowd.estimate
    if present is None:
        count: Any = len(quality)
        places = np.exp(-surface.primacy * np.arange(count, dtype=quality.dtype))[:, None]
        weights = places / places.sum()
    else:
        count = present.sum(axis=0, dtype=quality.dtype)
        places = np.exp(-surface.primacy * (np.cumsum(present, axis=0, dtype=quality.dtype) - 1)) * present
        weights = places / places.sum(axis=0)
    mean = (weights * quality).sum(axis=0)
    appeal = surface.sharp * crowd.looks
    if estimate is not None:
        appeal = appeal + surface.heed * estimate
    votes = places * np.exp(appeal - appeal.max(axis=0))
    best = (votes * quality).sum(axis=0) / votes.sum(axis=0)
    variety = (weights * np.square(quality - mean)).sum(axis=0)
    rate = surface.rate * (1 - np.exp(-variety / surface.variety))
    if estimate is not None:
        blunder = (weights * np.abs(estimate - quality)).sum(axis=0)
        rate = np.minimum(rate + surface.accuracy * np.exp(-blunder * blunder), 1)
    start = mean + _column([fuser.pull for fuser in fusers], quality) * (best - mean)
    length = count if estimate is None else count * (1 + surface.wordy)
    burden = np.log(np.maximum(length / _column([fuser.capacity for fuser in fusers], quality), 1))
    return start + rate * (levels + surface.reach - start) - surface.overload * burden - surface.loss


def opinion(crowd: Crowd, noise_size: float, noise: Array) -> Array:
    """What a verifier or tester, who looks at one candidate at a time, takes the qualities for."""
    return crowd.looks + noise_size * noise


def opinions(surface: Surface, crowd: Crowd, noise_size: float, noise: Array) -> Array:
    """What a critic takes the qualities for: looking at many candidates at once is harder than looking at few."""
    present = crowd.present
    count: Any = len(crowd.quality) if present is None else present.sum(axis=0, dtype=crowd.quality.dtype)
    return crowd.looks + (noise_size * (count / COMFORTABLE) ** surface.crowding) * noise


def standing(surface: Surface, crowd: Crowd, noise_size: float, noise: Array) -> Array:
    """What a ranker or judge orders candidates by: its own opinion, and the critic's where there is one."""
    own = opinions(surface, crowd, noise_size, noise)
    return own if crowd.estimate is None else own + surface.trust * (crowd.estimate - own)


def passed(opinions: Any, least: Any) -> Any:
    """Whether candidates pass a check statement.

    Args:
        opinions: What the tester takes their qualities for.
        least: The quality from which the statement passes; minus infinity where it tells nothing.
    """
    return opinions > least


def _column(values: Sequence[float], like: Array) -> Array:
    return np.array(values, like.dtype)[:, None]
