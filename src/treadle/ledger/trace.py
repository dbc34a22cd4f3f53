"""The trace of one question: operators, calls and executions in program order, with what each cost fresh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treadle.ledger.strand import Path
from treadle.models.base import Usage
from treadle.sandbox.base import ExecResult

_TOKENS = ("input", "cached_input", "output", "reasoning")


@dataclass(slots=True)
class CallEntry:
    """One logical call."""

    place: Path
    model: str
    role: str | None
    draw: int
    key: str
    usage: Usage | None
    usd: float | None
    start: float
    seconds: float
    cached: bool
    finish: str
    error: str | None = None

    def document(self) -> dict[str, Any]:
        """The entry as JSON values."""
        entry: dict[str, Any] = {
            "call": self.model,
            "role": self.role,
            "draw": self.draw,
            "key": self.key,
            "tokens": {name: getattr(self.usage, name, None) for name in _TOKENS},
            "usd": self.usd,
            "start": round(self.start, 6),
            "seconds": round(self.seconds, 6),
            "cached": self.cached,
            "finish": self.finish,
        }
        if self.error is not None:
            entry["error"] = self.error
        return entry


@dataclass(slots=True)
class ExecutionEntry:
    """One program that was run; ``draw`` and ``key`` are ``None`` for what is not remembered.

    ``result`` is ``None`` for what was cut: it did not come to its end within its question.
    """

    place: Path
    sandbox: str
    work: str
    draw: int | None
    key: str | None
    start: float
    cached: bool = False
    seconds: float = 0.0
    result: ExecResult | None = None

    def document(self) -> dict[str, Any]:
        """The entry as JSON values."""
        result = self.result
        entry: dict[str, Any] = {
            "execution": self.sandbox,
            "work": self.work,
            "draw": self.draw,
            "key": self.key,
            "start": round(self.start, 6),
            "seconds": round(self.seconds, 6),
            "cached": self.cached,
            "status": "cut" if result is None else result.status,
        }
        if result is None:
            return entry
        if result.exit_code is not None:
            entry["exit_code"] = result.exit_code
        if result.signal is not None:
            entry["signal"] = result.signal
        if result.reason:
            entry["reason"] = result.reason
        return entry


@dataclass(slots=True)
class NoteEntry:
    """Something an operator recorded: a fallback, a tie, a second ask."""

    place: Path
    kind: str
    details: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The entry as JSON values."""
        return {"note": self.kind, **self.details}


@dataclass(slots=True)
class Span:
    """An operator's part of the trace."""

    place: Path
    name: str
    entries: list[Span | CallEntry | ExecutionEntry | NoteEntry] = field(
        default_factory=list["Span | CallEntry | ExecutionEntry | NoteEntry"]
    )

    def document(self) -> dict[str, Any]:
        """The span with everything below it as JSON values."""
        return {"operator": self.name, "children": self.documents()}

    def documents(self) -> list[dict[str, Any]]:
        """What is below the span, in program order, as JSON values."""
        ordered = self.entries if len(self.entries) < 2 else sorted(self.entries, key=lambda entry: entry.place)
        return [entry.document() for entry in ordered]
