"""A row whose every answer failed has a score, and nothing to say: it must not pass for a measurement."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treadle.cli import wording
from treadle.errors import FAILURE_CLASSES

if TYPE_CHECKING:
    from treadle.evaluation.report import Report, Row

_REASON = 200


@dataclass(frozen=True, slots=True)
class Unusable:
    """A row without one usable answer: why in words, and the command that shows what came back."""

    workflow: str
    reason: str
    command: str

    def __str__(self) -> str:
        return f"{self.reason}; see what came back: {self.command}"


def unusable_rows(report: Report) -> list[Unusable]:
    """The rows whose answers all failed, whoever was at fault but the provider.

    Args:
        report: A measurement; what the provider failed is told by its own message.
    """
    return list(_unusable(report))


def _unusable(report: Report) -> Iterator[Unusable]:
    for row in report.rows:
        finished = [outcome for outcome in row.outcomes if outcome.finished and outcome.status != "infra"]
        if finished and all(outcome.status != "ok" for outcome in finished):
            address = report.run if len(report.rows) == 1 else f"{report.run}/{row.workflow}"
            first = " ".join(finished[0].reason.split())[:_REASON]
            yield Unusable(
                row.workflow,
                f"no answer of {row.workflow} could be used: {wording.failures(_counts(row))} ({first})",
                f"treadle trace {shlex.quote(address)} --failed --full",
            )


def _counts(row: Row) -> dict[str, int]:
    return {kind: sum(outcome.status == kind for outcome in row.outcomes) for kind in FAILURE_CLASSES}
