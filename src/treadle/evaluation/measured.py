"""Finished measurements read back from the store, by the address people type: ``RUN`` or ``RUN/WORKFLOW``."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean
from typing import Any

from treadle.errors import UnknownNameError, UserError
from treadle.evaluation.leak_lists import Leaks
from treadle.ledger.session import Session, find_run
from treadle.store.text import decode


@dataclass(frozen=True, slots=True)
class Measured:
    """Scores of one row of a run.

    Attributes:
        address: ``RUN/WORKFLOW``.
        task: The task's name.
        scores: Score of each finished question, averaged over its repeats; NaN where the provider failed.
        groups: The groups of the questions that have one.
        rows: Hash of each question's data: questions of one id but other data are not the same.
        scorer: Who graded.
        leaks: Hidden tests that stood in its prompts, as the run's document lists them; ``None`` where it lists none.
    """

    address: str
    task: str
    scores: dict[str, float]
    groups: dict[str, str]
    rows: dict[str, str]
    scorer: str
    leaks: Leaks | None = None

    @property
    def infra_share(self) -> float:
        """Share of the finished questions on which the provider failed."""
        return sum(isnan(score) for score in self.scores.values()) / max(1, len(self.scores))


async def read_measured(session: Session, address: str) -> Measured:
    """The scores of a row of a run.

    Args:
        session: Whose store to read.
        address: A run's id, or ``RUN/WORKFLOW`` where a run has several rows.

    Raises:
        UnknownNameError: When there is no such run or row.
        UserError: When the run has several rows and none is named, or none was measured.
    """
    run, _, workflow = address.partition("/")
    record = await session.journal.read(lambda store: find_run(store, run))
    samples = await session.journal.read(lambda store: store.samples(run))
    rows = list(dict.fromkeys(sample.workflow for sample in samples))
    if not rows:
        raise UserError(f"run {run} ({record.command}) measured nothing")
    if not workflow and len(rows) > 1:
        raise UserError(f"run {run} has several rows; name one: {', '.join(f'{run}/{row}' for row in rows)}")
    workflow = workflow or rows[0]
    if workflow not in rows:
        raise UnknownNameError(f"row of run {run}", workflow, rows)
    scores = await session.journal.read(lambda store: store.scores(run, workflow))
    found: dict[str, list[float]] = {}
    for sample in samples:
        if sample.workflow == workflow and sample.status != "unfinished":
            found.setdefault(sample.sample, [])
    for score in scores:
        if score.sample in found:
            found[score.sample].append(score.value)
    spec: dict[str, Any] = decode(record.spec)
    means = {id: fmean(values) if values else nan for id, values in found.items()}
    document: dict[str, Any] = {} if record.result is None else decode(record.result)
    leaks: Leaks | None = document.get("leaks")
    own = None if leaks is None else [leak for leak in leaks if leak["workflow"] == workflow]
    return Measured(f"{run}/{workflow}", record.task, means, spec["groups"], spec["rows"], spec["scorer"], own)
