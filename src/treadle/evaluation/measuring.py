"""What every measurement can be asked with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from treadle.errors import UserError
from treadle.ledger.budget import Budget
from treadle.ledger.tally import Tally


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a measurement is: questions done of all, and what was paid so far.

    ``checking`` says that nothing is measured yet: references that are programs are run first.
    """

    done: int
    total: int
    tally: Tally
    checking: bool = False


Watch = Callable[[Progress], None]


class Measuring(TypedDict, total=False):
    """Keyword arguments of everything that measures; `Asked` says what each is and what holds without it."""

    models: Sequence[str]
    roles: Mapping[str, str]
    limit: int | None
    fresh: int
    seed: int
    budget: Budget | None
    caps: Budget | None
    drop_bad_gold: bool
    concurrency: int | None
    watch: Watch | None


class Preparing(TypedDict):
    """Keyword arguments of preparing a task."""

    limit: int | None
    drop_bad_gold: bool
    budget: Budget | None
    watch: Watch | None


@dataclass(frozen=True, slots=True)
class Asked:
    """How a measurement was asked for.

    Attributes:
        models: Aliases or ``provider:model``, the strong one first.
        roles: Role name to alias.
        limit: Use the first so many samples.
        fresh: Take the N-th disjoint family of draws.
        seed: Seeds ``run.rng`` and search strategies.
        budget: Caps of the whole run.
        caps: Caps of one question.
        drop_bad_gold: Leave out samples whose own reference is graded wrong, instead of refusing the task.
        concurrency: Questions in flight at once.
        watch: Told after every question, and after every reference program that was run first.

    Raises:
        UserError: When ``fresh`` is negative.
    """

    models: Sequence[str] = ()
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    limit: int | None = None
    fresh: int = 0
    seed: int = 0
    budget: Budget | None = None
    caps: Budget | None = None
    drop_bad_gold: bool = False
    concurrency: int | None = None
    watch: Watch | None = None

    def __post_init__(self) -> None:
        if self.fresh < 0:
            raise UserError("fresh must not be negative")

    @property
    def preparing(self) -> Preparing:
        """What of it preparing the task is asked with."""
        return {
            "limit": self.limit,
            "drop_bad_gold": self.drop_bad_gold,
            "budget": self.budget,
            "watch": self.watch,
        }

    @property
    def question_caps(self) -> Budget:
        """Caps of one question; none where nothing is said."""
        return self.caps or Budget()
