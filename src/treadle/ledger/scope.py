"""What belongs to one question while one workflow answers it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from treadle.errors import RunLimitError, SampleBudgetError, UserError
from treadle.ledger.budget import Account, Amount, OverBudgetError
from treadle.ledger.endpoint import Endpoint
from treadle.ledger.keys import REPEAT_BLOCK, RequestAddress
from treadle.ledger.purse import Purse, QuestionClock
from treadle.ledger.strand import Path, Strand, current_strand
from treadle.ledger.tally import FreshCost, Tally
from treadle.ledger.trace import Span
from treadle.models.base import Completion, Request
from treadle.store.base import EventRecord
from treadle.store.text import encode

if TYPE_CHECKING:
    from treadle.ledger.executing import Executed, Execution, Stopwatch
    from treadle.ledger.recording import Recording
    from treadle.ledger.shared_sandbox import SharedSandbox

DRAW_MAP = "draws"
STEP = "step"
"""Kind of the events that a question leaves behind while it is answered; their subject is its sample's id."""


@dataclass(slots=True)
class Scope:
    """One question, one workflow, one repeat.

    Attributes:
        recording: The command's run that pays.
        identity: What a replay of this question is recognised by.
        draw_base: First draw of the repeat's block.
        seed: Text that seeds chance for this question.
        account: The question's own caps, or ``None``.
        tallies: Counts that every call is added to.
        cost: What the question costs fresh.
        span: The root of its trace.
        subject: What the draws of raced questions are kept under, with those of others like it.
        ended: What ended the whole run while this question was answered, whatever its workflow made of it.
        grading: Whether a scorer works here: what it runs is its own, not the structure's.
        known_draws: The draws that this question's asks got when tasks raced, where it was answered before.
    """

    recording: Recording
    identity: str
    draw_base: int = 0
    seed: str = "0"
    account: Account | None = None
    tallies: tuple[Tally, ...] = ()
    cost: FreshCost = field(default_factory=FreshCost)
    span: Span = field(default_factory=lambda: Span((), "question"))
    root: Strand = field(init=False)
    subject: str = ""
    known_draws: Mapping[str, int] = field(default_factory=dict[str, int])
    grading: bool = False
    ended: UserError | RunLimitError | None = field(default=None, init=False)
    _purse: Purse = field(init=False)
    _taken: dict[bytes, set[int]] = field(default_factory=dict[bytes, "set[int]"])
    _draws: list[tuple[Path, int, bytes, int]] = field(default_factory=list["tuple[Path, int, bytes, int]"])
    _raced: bool = False

    def __post_init__(self) -> None:
        self.root = Strand(self, owner=asyncio.current_task())
        recording = self.recording
        self._purse = Purse(recording.id, recording.account, self.tallies, recording.unclaimed)

    def strand(self) -> Strand:
        """The strand of the code that is running now."""
        current = current_strand.get()
        known = current if current is not None and current.scope is self else self.root
        return known.of_task(asyncio.current_task())

    def draw(self, strand: Strand, base: bytes, named: int | None) -> int:
        """The draw of an ask or an execution: the one it names, or the next of its kind in program order.

        No two asks of a question that name none share a draw, nor does one with an ask that names its own. Where tasks
        race for draws, what each got is written down, and a replay deals them out the same way.

        Raises:
            UserError: When a draw does not fit into the block that a repeat has.
        """
        taken = self._taken.setdefault(base, set())
        if named is not None:
            self._raced = self._raced or named in taken
            taken.add(named)
            return _within_block(named)
        occurrence = strand.occurrence(base)
        self._raced = self._raced or strand.concurrent
        draw = self.known_draws.get(_place(strand.path, occurrence, base)) if self.known_draws else None
        if draw is None:
            draw = strand.implicit_draw(base)
            while draw in taken or self._promised(base, draw):
                self._raced = True
                draw = strand.implicit_draw(base)
        taken.add(draw)
        self._draws.append((strand.path, occurrence, base, draw))
        return _within_block(draw)

    def _promised(self, base: bytes, draw: int) -> bool:
        """Whether a replay owes this draw to another ask of the kind."""
        if not self.known_draws:
            return False
        kind = base[:8].hex()
        return any(known == draw and place.endswith(kind) for place, known in self.known_draws.items())

    async def answer(self, endpoint: Endpoint, address: RequestAddress, request: Request) -> Completion:
        """Make a call within the question's caps and the run's budget.

        Raises:
            SampleBudgetError: When the question's own cap does not cover the call.
            RunLimitError: When the run's budget does not.
        """
        if self.account is None:
            return await self._call(endpoint, address, request)
        most = endpoint.bound(address, request)
        try:
            reservation = await self.account.hold(most)
        except OverBudgetError as error:
            raise SampleBudgetError(f"this question's cap is reached: {error}") from error
        with self.account.closing(reservation):
            completion = await self._call(endpoint, address, request)
            used = completion.usage.total if completion.usage else most.tokens
            reservation.settle(Amount(1, used, completion.usd or 0.0))
            return completion

    async def _call(self, endpoint: Endpoint, address: RequestAddress, request: Request) -> Completion:
        try:
            completion = await self.recording.caller.call(endpoint, address, request, self._purse)
        except OverBudgetError as error:
            self.ended = self.recording.limit_reached(error)
            raise self.ended from error
        except UserError as error:
            self.ended = error
            raise
        for tally in self.tallies:
            tally.answer(completion)
        self.cost.add(completion)
        return completion

    async def sandbox(self) -> SharedSandbox:
        """The session's sandbox, open.

        Raises:
            SandboxError: Nothing here isolates, or what was asked for does not.
        """
        self.clock.pause()
        try:
            return await self.recording.session.sandbox()
        except UserError as error:
            self.ended = error
            raise
        finally:
            self.clock.resume()

    async def execute(self, execution: Execution, key: str | None, watch: Stopwatch) -> Executed:
        """Run a program within the question's time, or remember what came of it.

        Args:
            execution: What to run.
            key: What it is remembered by; ``None`` for what is not.
            watch: Measures how long it takes.
        """
        return await self.recording.session.executions.make(execution, key, self.recording.id, watch)

    async def keep(self, step: Mapping[str, Any]) -> None:
        """Commit a note of this question before anything else happens."""
        payload = encode({"question": self.identity, "subject": self.subject, **step})
        await self.recording.journal.write(
            EventRecord(self.recording.id, STEP, self.identity.rpartition("|")[0], time.time(), payload)
        )

    @property
    def folder(self) -> FilePath:
        """Where files of this question belong; nobody made it yet."""
        words = re.sub(r"[^A-Za-z0-9._-]+", "-", self.identity.rpartition("|")[0]).strip("-.")[:60] or "question"
        digest = blake2b(f"{self.subject}|{self.identity}".encode(errors="surrogateescape"), digest_size=4).hexdigest()
        return self.recording.folder / f"{words}-{digest}"

    @property
    def clock(self) -> QuestionClock:
        """The question's clock."""
        return self._purse.clock

    def records(self) -> tuple[EventRecord, ...]:
        """What a replay of this question needs besides the calls."""
        if not self._raced or not self._draws:
            return ()
        draws = {_place(path, occurrence, base): draw for path, occurrence, base, draw in self._draws}
        payload = encode({"question": self.identity, "draws": {**self.known_draws, **draws}})
        return (EventRecord(self.recording.id, DRAW_MAP, self.subject, time.time(), payload),)


def _place(path: Path, occurrence: int, base: bytes) -> str:
    return f"{'.'.join(map(str, path))}:{occurrence}:{base[:8].hex()}"


def _within_block(draw: int) -> int:
    if not 0 <= draw < REPEAT_BLOCK:
        raise UserError(f"draw {draw} does not exist: a question has draws 0 to {REPEAT_BLOCK - 1} of each request")
    return draw
