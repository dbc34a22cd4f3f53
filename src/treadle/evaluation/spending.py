"""Who spent what in a measured row, and which kinds of answers it gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from treadle.evaluation.outcome import Outcome
from treadle.ledger.spent import Spent

NOBODY = ""
"""What stands for a role where none was named."""


def spending_document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """``roles`` and ``labels`` of a row as JSON values; each only where there are any.

    ``roles`` sums over every answer that came to an end and that no provider failed, each repeat of a question counted;
    its ``per_sample`` is the mean over these answers, as that of the row is. ``labels`` counts answers, repeats too.

    Args:
        outcomes: Of one workflow, all repeats.
    """
    counted = [outcome for outcome in outcomes if outcome.finished and outcome.status != "infra"]
    names = dict.fromkeys(role for outcome in counted for role, _ in outcome.players)
    labels = Counter(outcome.label for outcome in counted if outcome.label)
    document: dict[str, Any] = {}
    if any(name != NOBODY for name in names):
        document["roles"] = {name: _role(name, counted) for name in names}
    if labels:
        document["labels"] = dict(labels)
    return document


def tokens_of(outcome: Outcome, models: Collection[str]) -> int:
    """Tokens, input and output, that some models took for an answer, whatever role they were asked in.

    Args:
        outcome: The answer.
        models: The models, by the names that people call them.
    """
    return sum(cost.usage.total for (_, model), cost in outcome.players.items() if model in models)


def _role(name: str, counted: Sequence[Outcome]) -> dict[str, Any]:
    models: dict[str, None] = {}
    total = Spent()
    for outcome in counted:
        for (role, model), cost in outcome.players.items():
            if role == name:
                models[model] = None
                total += cost
    answers = len(counted)
    return {
        "models": list(models),
        **total.document(),
        "per_sample": {
            "calls": total.calls / answers,
            "usd": None if total.usd is None else total.usd / answers,
            "seconds": total.seconds / answers,
            "tokens": total.usage.total / answers,
        },
    }
