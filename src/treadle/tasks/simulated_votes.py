"""``simulated:llm``, which knows the true score of one call and of a vote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from treadle.errors import UserError
from treadle.models.simulated import Ability, simulated_model
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow
from treadle.workflows.settings import split_options

_MODEL = "simulated:"
_NODES = 80
_TWO = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedTask(Task):
    """A simulated set of plain questions.

    Attributes:
        answers: How many answers a question can have.
        spread: Standard deviation of the questions' difficulty.
    """

    answers: int = _TWO
    spread: float = 0.0

    def true_score(self, workflow: Workflow, models: Sequence[str]) -> float | None:
        """The expected score of a workflow on a question of this kind, a fraction.

        Args:
            workflow: ``single``, ``cot``, or ``self-consistency`` where questions have two answers.
            models: The models given, the strong one first.

        Returns:
            ``None`` where it is not known.
        """
        name, options = split_options(workflow.name)
        ability = _ability(models[0]) if models else None
        if ability is None:
            return None
        if name in ("single", "cot"):
            return majority(ability, 1, self.spread)
        if name == "self-consistency" and self.answers == _TWO:
            return majority(ability, int(options.get("n", "5")), self.spread)
        return None


def majority(ability: Ability, votes: int, spread: float) -> float:
    """The probability that most of some draws of one question are right, where there are two answers.

    Condorcet's sum over the binomial distribution, averaged over what the draws of a question share; a tie, which goes
    to the first draw, is right with probability one half.

    Args:
        ability: What the model is like.
        votes: How many draws.
        spread: Standard deviation of the questions' difficulty.
    """
    import numpy as np
    from scipy.special import ndtr, ndtri
    from scipy.stats import binom

    if ability.skill in (0.0, 1.0):
        return float(ability.skill)
    threshold = float(ndtri(ability.skill))
    shared = math.sqrt(ability.correlation + spread**2)
    own = math.sqrt(1.0 - ability.correlation)
    if votes == 1 or own == 0.0:
        return float(ndtr(threshold / math.sqrt(1.0 + spread**2)))
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES if shared else 1)
    right = ndtr((threshold - shared * nodes) / own)
    most = binom.sf(votes // 2, votes, right)
    if votes % 2 == 0:
        most = most + 0.5 * binom.pmf(votes // 2, votes, right)
    return float((weights * most).sum() / weights.sum())


def _ability(model: str) -> Ability | None:
    """What a simulated model is like; ``None`` for any other model."""
    if not model.startswith(_MODEL):
        return None
    try:
        return simulated_model(model.removeprefix(_MODEL)).ability
    except UserError:
        return None
