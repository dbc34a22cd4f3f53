"""The records of a store and the contract that every store keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One finished model call.

    ``key`` is the content address (model identity, request, draw); ``request`` and ``completion`` are JSON;
    ``seconds`` is the measured latency of the successful attempt; ``attempts`` counts retried ones too; ``at`` is unix
    time; ``run`` is the run that paid.
    """

    key: str
    run: str
    model: str
    draw: int
    request: bytes
    completion: bytes
    seconds: float
    usd: float | None
    attempts: int
    at: float


@dataclass(frozen=True, slots=True)
class ExecutionRecord:
    """One finished execution of a program.

    ``key`` is the content address (sandbox, work, files, stdin, limits, surroundings, draw); ``result`` is the JSON of
    the `treadle.sandbox.base.ExecResult`; ``seconds`` is the wall clock it took; ``run`` is the run that made it.
    """

    key: str
    run: str
    result: bytes
    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One command's run.

    ``owner`` names the process (host, pid and its start) that writes it, so that a run whose process died is
    recognised; ``ended_by`` is ``None`` while it runs; ``spec`` (what was asked) and ``result`` (the command's JSON
    document) are JSON.
    """

    id: str
    command: str
    task: str
    spec: bytes
    owner: str
    started: float
    ended: float | None = None
    ended_by: str | None = None
    usd: float | None = 0.0
    result: bytes | None = None


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """One question answered by one workflow in one repeat; costs are fresh ones.

    ``status`` is ``ok``, a failure class or ``unfinished``; ``trace`` is the JSON of the sample's trace tree.
    """

    run: str
    workflow: str
    sample: str
    repeat: int
    status: str
    answer: str
    calls: int
    usd: float | None
    tokens: int
    seconds: float
    trace: bytes


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """What one scorer said of one sample's answer."""

    run: str
    workflow: str
    sample: str
    repeat: int
    scorer: str
    value: float
    answer: str
    reason: str


@dataclass(frozen=True, slots=True)
class EventRecord:
    """Something that happened to a subject: a test part opened, a draw map, a gold check, a note.

    ``kind`` and ``subject`` are what it is found by; ``payload`` is JSON.
    """

    run: str
    kind: str
    subject: str
    at: float
    payload: bytes = b"{}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Records written together in one transaction."""

    calls: Sequence[CallRecord] = field(default_factory=tuple[CallRecord, ...])
    samples: Sequence[SampleRecord] = field(default_factory=tuple[SampleRecord, ...])
    scores: Sequence[ScoreRecord] = field(default_factory=tuple[ScoreRecord, ...])
    events: Sequence[EventRecord] = field(default_factory=tuple[EventRecord, ...])
    executions: Sequence[ExecutionRecord] = field(default_factory=tuple[ExecutionRecord, ...])


class Store(Protocol):
    """Blocking storage; the ledger calls it off the event loop, from one thread at a time.

    Everything a method wrote is committed when it returns: a process killed right after loses nothing (a power cut
    may). Several processes may write one store at once. The first record of a call or execution wins; later ones with
    its key are ignored. Samples and scores are replaced by their key (run, workflow, sample, repeat and, for scores,
    scorer). Texts are UTF-8; a lone surrogate is kept by the rule of `treadle.store.text`.
    """

    def calls(self, keys: Sequence[str]) -> dict[str, CallRecord]:
        """The records found under these keys (any number of keys)."""
        ...

    def executions(self, keys: Sequence[str]) -> dict[str, ExecutionRecord]:
        """The records found under these keys (any number of keys)."""
        ...

    def paid_by(self, run: str) -> list[CallRecord]:
        """The calls that a run paid for, in the order in which they were written."""
        ...

    def write(self, batch: Batch) -> frozenset[str]:
        """Commit a batch in one short transaction.

        Returns:
            Keys of calls and executions in it that were there already: their first records stay.
        """
        ...

    def save_run(self, run: RunRecord) -> None:
        """Insert or replace a run."""
        ...

    def run(self, id: str) -> RunRecord | None:
        """A run by its id, or ``None``."""
        ...

    def runs(self, limit: int = 100) -> list[RunRecord]:
        """The latest runs, newest first; one whose owner is dead and never ended comes with ``ended_by`` ``killed``."""
        ...

    def samples(self, run: str, workflow: str | None = None) -> list[SampleRecord]:
        """A run's samples in the order in which they were first written."""
        ...

    def scores(self, run: str, workflow: str | None = None) -> list[ScoreRecord]:
        """A run's scores in the order in which they were first written."""
        ...

    def events(self, kind: str, subject: str | None = None, run: str | None = None) -> list[EventRecord]:
        """Events of a kind, oldest first, narrowed by subject and run."""
        ...

    def close(self) -> None:
        """Free the connection; may be called twice."""
        ...
