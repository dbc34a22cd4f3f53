"""Strong-model tokens against the same task done by the strong model alone, where such a run is known."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from treadle.errors import UserError
from treadle.evaluation.outcome import Outcome
from treadle.fixing.report import FixReport, StrongTokens
from treadle.ledger.recording import Recording
from treadle.ledger.session import Session
from treadle.store.text import decode
from treadle.workspaces.base import Repository

COMMAND = "fix"
ALONE = "strong"
"""The mode in which the strong model is alone."""
_LOOKED_AT = 500
"""How many of the latest runs are looked through."""


def task_digest(repository: Repository, start: str, issue: str) -> str:
    """What tells two fixes of the same issue in the same files from others (16 hex digits).

    Args:
        repository: With its commands.
        start: What its files are at the start, as `Checkout.tree` gives it.
        issue: The issue's text.
    """
    parts = (str(repository.path), start, repository.setup, repository.test, issue)
    return blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=8).hexdigest()


async def with_strong_tokens(recording: Recording, report: FixReport, outcome: Outcome | None) -> FixReport:
    """The report with the tokens of the strong model, whoever it played, and those it took alone.

    Nothing is claimed where no strong model is known, or where the fix did not come to a patch by an end of its own:
    what is cut short takes less, and says nothing.

    Args:
        recording: The fix's run.
        report: Of the fix.
        outcome: Who was asked for how much.
    """
    model = _strong_model(recording, report.mode)
    if not model or outcome is None or not report.finished or report.status != "patched":
        return report
    here = sum(
        spent.usage.total
        for (_, alias), spent in outcome.players.items()
        if str(recording.session.endpoint(alias).identity) == model
    )
    return report.with_strong(await _held_against(recording.session, StrongTokens(model, here), report))


def _strong_model(recording: Recording, mode: str) -> str:
    """Who the strong model is, as a text that is equal for equal models; empty where nobody manages."""
    if mode == "weak":
        return ""
    try:
        return str(recording.endpoint("manager").identity)
    except UserError:
        # Nobody asks it where the worker's model manages, so it needs no key there.
        return ""


async def _held_against(session: Session, strong: StrongTokens, report: FixReport) -> StrongTokens:
    """The same with what the latest finished run took in which the model was alone."""
    for record in await session.journal.read(lambda store: store.runs(_LOOKED_AT)):
        if record.command != COMMAND or record.id == report.run or record.ended_by != "done" or record.result is None:
            continue
        if decode(record.spec).get("mode") != ALONE:
            continue
        document: dict[str, Any] = decode(record.result)
        alone: dict[str, Any] = document.get("strong_tokens") or {}
        if (document.get("task"), alone.get("model")) == (report.task, strong.model):
            return StrongTokens(strong.model, strong.here, alone["here"], record.id, document["resolved"])
    return strong
