"""What a failure of a question counts as."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Literal, cast

from treadle.errors import FailureClass, RunLimitError, SampleFailure, UserError

Status = FailureClass | Literal["ok", "unfinished"]
REASON_LIMIT = 2_000
"""Characters of a reason that are kept."""


def classify(error: BaseException) -> tuple[Status, str]:
    """The status of a question whose workflow raised, and the reason in words."""
    if isinstance(error, BaseExceptionGroup):
        return classify(_gravest(cast("BaseExceptionGroup[BaseException]", error)))
    if isinstance(error, UserError):
        raise error
    if isinstance(error, RunLimitError):
        return "unfinished", str(error)
    if isinstance(error, SampleFailure):
        return error.failure, str(error)[:REASON_LIMIT]
    last = traceback.extract_tb(error.__traceback__)[-1:] if error.__traceback__ else []
    where = f" at {last[0].name}:{last[0].lineno}" if last else ""
    return "crash", f"{type(error).__name__}: {error}{where}"[:REASON_LIMIT]


def _gravest(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure of a task group that says most about the question."""
    leaves = list(_leaves(group))
    for kind in (UserError, RunLimitError, SampleFailure):
        for leaf in leaves:
            if isinstance(leaf, kind):
                return leaf
    return leaves[0]


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(cast("BaseExceptionGroup[BaseException]", error))
        else:
            yield error
