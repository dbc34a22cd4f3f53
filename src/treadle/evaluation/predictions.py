"""Answers written in a benchmark's own form, so that its own graders can read them."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from treadle.errors import Caution
from treadle.evaluation.report import Row
from treadle.tasks.base import PredictionWriter, Scorer
from treadle.tasks.joined import JoinedTask
from treadle.tasks.task import Task


async def write_predictions(task: Task, rows: Sequence[Row], folder: Path) -> dict[str, str]:
    """Let a task's scorer write the answers of each workflow; nothing where it does not.

    Of several repeats it is the first one's answers. Questions that did not come to an end, or that a provider failed
    before there was an answer, are left out; those that failed otherwise may have an empty one. Of joined tasks, the
    one whose scorer writes counts; where there are several, none is written.

    Args:
        task: What was measured.
        rows: The rows, however far they came.
        folder: The run's folder.

    Returns:
        The file of each workflow that has answers.
    """
    writer, ids = _writer(task)
    if writer is None:
        return {}
    found: dict[str, str] = {}
    for row in rows:
        answers = _answers(row, ids)
        if not answers:
            continue
        try:
            found[row.workflow] = str(await asyncio.to_thread(writer.write_predictions, folder, row.workflow, answers))
        except OSError as error:
            warnings.warn(f"the answers of {row.workflow} could not be written: {error}", Caution, stacklevel=2)
    return found


def _writer(task: Task) -> tuple[PredictionWriter | None, Mapping[str, str]]:
    """The scorer that writes, and the ids that it knows its samples by."""
    if not isinstance(task, JoinedTask):
        scorer: Scorer = task.scorer
        known = {sample.id: sample.id for sample in task.samples}
        return (scorer, known) if isinstance(scorer, PredictionWriter) else (None, {})
    parts = [part for part in task.parts.values() if isinstance(part[0].scorer, PredictionWriter)]
    if len({id(part) for part, _ in parts}) != 1:
        return None, {}
    whole = parts[0][0]
    return _writer(whole)[0], {id: sample.id for id, (part, sample) in task.parts.items() if part is whole}


def _answers(row: Row, ids: Mapping[str, str]) -> dict[str, str]:
    """What an answer was graded with does not matter here; one that knew a hidden test is none."""
    first = [outcome for outcome in row.outcomes if outcome.id in ids and outcome.repeat == 0 and outcome.finished]
    given = [outcome for outcome in first if outcome.answer or outcome.status != "infra"]
    return {ids[outcome.id]: "" if outcome.leaks else outcome.answer for outcome in given}
