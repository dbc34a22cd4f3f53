"""How often a test part was looked at: every new look makes the next one count for less."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from treadle.ledger.recording import Recording
from treadle.lookup import source_of
from treadle.store.base import EventRecord
from treadle.store.text import canonical, decode
from treadle.tasks.task import Task
from treadle.workflows.base import Workflow

OPENED = "test-opened"


async def open_test_part(recording: Recording, task: Task, workflows: Sequence[Workflow], repeats: int) -> int:
    """Write down that a test part is looked at, and say the how-manieth look it is.

    All looks at any of its rows count, whatever task, limit or split they came with. Looking again at the very same
    comparison (workflows, models, settings, draws) shows nothing new and keeps its number.

    Args:
        recording: The search's run.
        task: The task, with its split.
        workflows: What will be compared there.
        repeats: Draws of every question.
    """
    rows = sorted(task.row_hashes[sample.id] for sample in task.split.test)
    look: dict[str, Any] = {
        "workflows": [[workflow.name, source_of(workflow.answer)] for workflow in workflows],
        "models": recording.asked_models(),
        "fresh": recording.fresh,
        "repeats": repeats,
    }
    mine = canonical({"look": look, "rows": rows})
    journal = recording.journal
    known = await journal.read(lambda store: store.events(OPENED))
    if all(event.payload != mine for event in known):
        await journal.write(EventRecord(recording.id, OPENED, "", time.time(), mine))
        known = await journal.read(lambda store: store.events(OPENED))
    here = set(rows)
    looks = dict.fromkeys(event.payload for event in known if not here.isdisjoint(decode(event.payload)["rows"]))
    return list(looks).index(mine) + 1
