"""Strong-model tokens against the same task done by the strong model alone, where such a run is known."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from treadle.fixing.report import StrongTokens
from treadle.ledger.session import Session
from treadle.store.text import decode

COMMAND = "fix"
_LOOKED_AT = 500
"""How many of the latest runs are looked through."""


def task_digest(repository: str, issue: str) -> str:
    """What tells two fixes of the same issue in the same place from others (16 hex digits).

    Args:
        repository: The repository's path.
        issue: The issue's text.
    """
    return blake2b(f"{repository}\0{issue}".encode(errors="surrogateescape"), digest_size=8).hexdigest()


async def strong_tokens(session: Session, here: int, task: str, manager: str, run: str) -> StrongTokens:
    """The tokens of the strong model here, and those of the latest finished run in which it was alone.

    Args:
        session: Whose store is looked through.
        here: The strong model's tokens in this run.
        task: As `task_digest` gives it.
        manager: The strong model's identity, as texts.
        run: This run.
    """
    for record in await session.journal.read(lambda store: store.runs(_LOOKED_AT)):
        if record.command != COMMAND or record.id == run or record.ended_by != "done" or record.result is None:
            continue
        spec: dict[str, Any] = decode(record.spec)
        if (spec.get("digest"), spec.get("mode"), spec.get("manager")) != (task, "strong", manager):
            continue
        document: dict[str, Any] = decode(record.result)
        alone = document["fresh"]["manager"]
        return StrongTokens(here, alone["input"] + alone["output"], record.id, document["resolved"])
    return StrongTokens(here)
