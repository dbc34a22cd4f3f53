"""How a search is run: everything but its space, task and models."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from treadle.errors import UserError
from treadle.ledger.keys import MAX_REPEATS

Objective = Literal["score", "cheapest"]
CostUnit = Literal["usd", "tokens", "calls", "seconds"]
MOST_STRUCTURES = 100
"""Structures evaluated where nothing else is said."""
Schedule = Literal["default", "paper"]
PAPER_START, PAPER_STRUCTURES = 240, 490
"""Random structures that the paper's schedule begins with, and all that it evaluates (arXiv 2409.15254)."""
COST_UNITS: tuple[CostUnit, ...] = ("usd", "tokens", "calls", "seconds")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of a search.

    Attributes:
        max_evals: Structures evaluated at most; ``None`` is all that a finite space has, at most 100, or 490 with the
            paper's schedule.
        weight: λ of the objective score − λ·cost, in fractions of the score per ``cost_unit`` per question.
        cost_unit: What cost is counted in; ``None`` is dollars when every model is priced, else tokens.
        margin: Points within which a difference does not matter.
        objective: ``score``, or ``cheapest``: the cheapest structure that is not worse than the best by more than the
            margin.
        batch: Suggestion k sees exactly the results of suggestions ≤ k − batch, whatever runs at once.
        block: Questions between two decisions of the race; ``None`` is a sixth of the search part, at least 4.
        race: Whether hopeless structures stop early.
        test_repeat: Fresh draws of every test question.
        split_seed: Seeds the three-way split instead of the data's hash.
        search_repeat: Draws of every search question.
        anyway: Whether to search although experience says that it is not worth it.
        schedule: How a surrogate begins: ``default``, a small space-filling start; ``paper``, 240 random structures.
    """

    max_evals: int | None = None
    weight: float = 0.0
    cost_unit: CostUnit | None = None
    margin: float = 2.0
    objective: Objective = "score"
    batch: int = 8
    block: int | None = None
    race: bool = True
    test_repeat: int = 3
    split_seed: int | None = None
    search_repeat: int = 1
    schedule: Schedule = "default"
    anyway: bool = False

    def __post_init__(self) -> None:
        for name, least in (("max_evals", 1), ("batch", 1), ("block", 1), ("test_repeat", 1), ("search_repeat", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UserError(f"{name.replace('_', '-')} must be {least} or more, not {value}")
        for name, value in (("lambda", self.weight), ("margin", self.margin)):
            if not (isfinite(value) and value >= 0):
                raise UserError(f"{name} must be a number from 0 on, not {value:g}")
        for name, value in (("test-repeat", self.test_repeat), ("search-repeat", self.search_repeat)):
            if value >= MAX_REPEATS:
                raise UserError(f"{name} must be below {MAX_REPEATS}, not {value}")
        if self.objective not in ("score", "cheapest"):
            raise UserError(f"unknown objective {self.objective!r}; known: score, cheapest")
        if self.schedule not in ("default", "paper"):
            raise UserError(f"unknown schedule {self.schedule!r}; known: default, paper")
        if self.schedule == "paper" and self.max_evals is not None and self.max_evals <= PAPER_START:
            raise UserError(
                f"the schedule paper begins with {PAPER_START} random structures: --max-evals must be above that, not"
                f" {self.max_evals}"
            )
        if self.cost_unit is not None and self.cost_unit not in COST_UNITS:
            raise UserError(f"unknown cost unit {self.cost_unit!r}; known: {', '.join(COST_UNITS)}")
