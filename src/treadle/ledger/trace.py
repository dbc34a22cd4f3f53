"""The trace of one question: operators and calls in program order, with what each cost fresh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treadle.ledger.strand import Path


@dataclass(slots=True)
class CallEntry:
    """One logical call."""

    place: Path
    model: str
    role: str | None
    draw: int
    key: str
    input: int | None
    output: int | None
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
            "tokens": {"input": self.input, "output": self.output},
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
    entries: list[Span | CallEntry | NoteEntry] = field(default_factory=list["Span | CallEntry | NoteEntry"])

    def document(self) -> dict[str, Any]:
        """The span with everything below it as JSON values."""
        return {"operator": self.name, "children": self.documents()}

    def documents(self) -> list[dict[str, Any]]:
        """What is below the span, in program order, as JSON values."""
        ordered = self.entries if len(self.entries) < 2 else sorted(self.entries, key=lambda entry: entry.place)
        return [entry.document() for entry in ordered]
