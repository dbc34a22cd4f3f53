"""A stage for operators and workflows: a run whose requests and notes can be looked at afterwards."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from treadle.ledger.budget import Budget
from treadle.ledger.cast import Cast
from treadle.ledger.recording import Recording
from treadle.ledger.run import Run
from treadle.ledger.scope import Scope
from treadle.models.base import Request
from treadle.models.scripted import Scripted
from treadle.sandbox.base import Sandbox
from treadle.testing.sessions import new_scope, scripted_session

Reply = Callable[[Request], Scripted]


@dataclass(slots=True)
class Stage:
    """One question's run, with everything that was asked on it.

    Attributes:
        recording: What pays; its tally counts.
        scope: The question; its span is the trace.
        requests: What reached a model, in the order in which it did.
    """

    recording: Recording
    scope: Scope
    requests: list[Request] = field(default_factory=list[Request])

    @property
    def run(self) -> Run:
        """What a workflow is handed."""
        return Run(self.scope)

    @property
    def calls(self) -> int:
        """Logical calls so far."""
        return self.recording.tally.logical

    def notes(self, kind: str) -> list[Mapping[str, Any]]:
        """The notes of a kind, wherever in the trace they stand."""
        return [note for note in _walk(self.scope.span.documents()) if note.get("note") == kind]


def _walk(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for document in documents:
        found.append(document)
        found += _walk(document.get("children", []))
    return found


@asynccontextmanager
async def stage(
    reply: Reply | Mapping[str, Reply],
    *,
    caps: Budget | None = None,
    roles: Mapping[str, str] | None = None,
    sandbox: str | Sandbox | None = None,
) -> AsyncGenerator[Stage]:
    """Set a stage with models that functions play.

    Args:
        reply: A function of a request (alias ``m``), or several by alias, the strong one first.
        caps: Caps of the question.
        roles: Role name to alias.
        sandbox: A kind of sandbox, or a sandbox, for what runs programs.
    """
    requests: list[Request] = []
    functions: Mapping[str, Reply] = {"m": reply} if callable(reply) else reply

    def watched(function: Reply) -> Reply:
        def answer(request: Request) -> Scripted:
            requests.append(request)
            return function(request)

        return answer

    watching = {alias: watched(function) for alias, function in functions.items()}
    async with scripted_session(watching, sandbox=sandbox) as session:
        recording = await session.record("stage", cast=Cast(tuple(session.aliases[:1]), roles or {}))
        yield Stage(recording, new_scope(recording, caps), requests)
