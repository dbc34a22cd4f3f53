"""`Run.sandbox`: programs of a question run once, are remembered like its calls, and stand in its trace."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from treadle.errors import ProviderError, UserError
from treadle.ledger.flights import Flights
from treadle.ledger.journal import Journal
from treadle.ledger.keys import ExecutionAddress
from treadle.ledger.purse import QuestionClock
from treadle.ledger.shared_sandbox import ALONE, NO_FILES, SharedSandbox
from treadle.ledger.strand import Strand
from treadle.ledger.trace import ExecutionEntry, Span
from treadle.sandbox.base import Command, ExecResult, Limits, Program, Surroundings, Traits
from treadle.store.base import ExecutionRecord
from treadle.store.text import decode, encode

if TYPE_CHECKING:
    from treadle.ledger.scope import Scope

_SHOWN = 80
"""Characters of a program's first line in a trace."""


@dataclass(frozen=True, slots=True)
class Execution:
    """A piece of work with all that it is given; the fields are the arguments of `Sandbox.execute`."""

    work: Program | Command
    files: Mapping[str, bytes]
    stdin: bytes
    limits: Limits
    surroundings: Surroundings

    @property
    def is_whole(self) -> bool:
        """Whether this is all that it depends on; files of this machine change unseen."""
        return self.surroundings.folder is None and not self.surroundings.readable

    def is_refused_for_good(self, traits: Traits) -> bool:
        """Whether it asks for what cannot be, or for what a sandbox of these traits has not."""
        from treadle.sandbox.plans import fault_of

        if isinstance(self.work, Command) and not traits.commands:
            return True
        if (self.files or self.stdin) and not traits.inputs:
            return True
        if self.surroundings != ALONE and not traits.folders:
            return True
        return bool(fault_of(self.work, self.files, self.surroundings))

    def address(self, identity: str) -> ExecutionAddress:
        """The content address in a sandbox of this identity."""
        return ExecutionAddress(identity, self.work, self.files, self.stdin, self.limits, self.surroundings)


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of an execution; ``cached`` where somebody had made it already."""

    result: ExecResult
    cached: bool = False


class Stopwatch:
    """Measures an execution from the moment its turn came; the question's clock stands still until then."""

    def __init__(self, clock: QuestionClock) -> None:
        self._clock = clock
        self._begun: float | None = asyncio.get_running_loop().time()
        self._seconds = 0.0

    def pause(self) -> None:
        """It waits for its turn."""
        self._begun = None
        self._clock.pause()

    def resume(self) -> None:
        """Its turn has come, or it gave up waiting."""
        self._begun = asyncio.get_running_loop().time()
        self._clock.resume()

    def stop(self) -> float:
        """The seconds until now, or until it was stopped first."""
        if self._begun is not None:
            self._seconds = asyncio.get_running_loop().time() - self._begun
            self._begun = None
        return self._seconds


class Executions:
    """Makes the executions of everything in a session.

    One that was made before is read from the store; identical ones in flight are made once; what it came to is
    committed before anybody sees it. What was refused is not kept: the reason may be gone the next time.
    """

    def __init__(self, journal: Journal, sandbox: SharedSandbox) -> None:
        self._journal = journal
        self._sandbox = sandbox
        self._flights: Flights[Executed] = Flights()
        self._once = count()

    async def make(self, execution: Execution, key: str | None, run: str, watch: Stopwatch) -> Executed:
        """Execute, or remember.

        When it is cancelled and nobody else waits for the same, the work is ended first.

        Args:
            execution: What to run.
            key: What it is remembered by; ``None`` for what is not.
            run: The run that makes it.
            watch: Measures it from when its turn has come.

        Raises:
            SandboxError: There is no sandbox.
            ProviderError: The sandbox itself failed.
        """
        known = key or f"once {next(self._once)}"
        first = known not in self._flights
        try:
            made = await self._flights.share(known, watch, lambda sent: self._make(execution, key, run, sent))
        except asyncio.CancelledError:
            watch.stop()
            await self._flights.settled()
            raise
        return made if first else replace(made, cached=True)

    async def aclose(self) -> None:
        """End everything that is running."""
        await self._flights.aclose()

    async def _make(self, execution: Execution, key: str | None, run: str, started: Callable[[], None]) -> Executed:
        record = None if key is None else await self._journal.execution(key)
        if record is not None:
            return Executed(decode(record.result, ExecResult), cached=True)
        result = await self._sandbox.execute(
            execution.work,
            files=execution.files,
            stdin=execution.stdin,
            limits=execution.limits,
            surroundings=execution.surroundings,
            started=started,
        )
        clean = self._journal.cleaned
        result = replace(result, stdout=clean(result.stdout), stderr=clean(result.stderr), reason=clean(result.reason))
        if key is None or result.status == "refused":
            return Executed(result)
        record = ExecutionRecord(key, run, encode(result), result.seconds, time.time())
        if await self._journal.write(record):
            return Executed(result)
        earlier = await self._journal.execution(key)
        return Executed(result if earlier is None else decode(earlier.result, ExecResult))


class RunSandbox:
    """The sandbox of a question: a `treadle.sandbox.base.Sandbox` whose executions are remembered and traced."""

    __slots__ = ("_scope", "_span")

    def __init__(self, scope: Scope, span: Span) -> None:
        self._scope = scope
        self._span = span

    @property
    def name(self) -> str:
        """The kind's name; like `identity` and `traits` known once it is open (see `open`).

        Raises:
            UserError: Nothing opened it so far.
        """
        return self._scope.recording.session.shared_sandbox.name

    @property
    def identity(self) -> str:
        """What results are remembered by."""
        return self._scope.recording.session.shared_sandbox.identity

    @property
    def traits(self) -> Traits:
        """What it can do."""
        return self._scope.recording.session.shared_sandbox.traits

    @property
    def limits(self) -> Limits:
        """What a program may take where nothing else is said: the file's ``[sandbox]``."""
        return self._scope.recording.session.shared_sandbox.limits

    async def open(self) -> None:
        """Open it before the first execution does, to learn its name and traits.

        Raises:
            SandboxError: There is no sandbox.
        """
        await self._scope.sandbox()

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] = NO_FILES,
        stdin: bytes = b"",
        limits: Limits | None = None,
        surroundings: Surroundings = ALONE,
        title: str | None = None,
    ) -> ExecResult:
        """Run a piece of work to its end, or remember what came of it.

        The k-th same execution of a question is its k-th draw, as with asks: a replay finds each, and a repeat or a
        fresh family makes its own. Work that sees a folder or files of this machine is run every time.

        Args:
            work: What to run.
            files: Files put into the work folder first: relative path to content.
            stdin: What it can read; nothing more comes after it.
            limits: What it may take; `limits` where nothing is said.
            surroundings: What it may see of this machine.
            title: What the trace calls it; its first line where nothing is said.

        Raises:
            UserError: What is given is of another kind, such as text where bytes belong.
            SandboxError: There is no sandbox.
            ProviderError: The sandbox itself failed, or could not start what there is nothing wrong with; or it
                refused what a scorer wanted to run.
        """
        _refuse_other_kinds(work, files, stdin, limits)
        scope = self._scope
        strand = scope.strand()
        place = strand.next_place()
        sandbox = await scope.sandbox()
        execution = Execution(work, files, stdin, limits or sandbox.limits, surroundings)
        draw, key = self._draw(strand, execution, sandbox.identity)
        entry = ExecutionEntry(place, sandbox.name, _first_line(work, title), draw, key, strand.elapsed)
        try:
            result = await self._make(execution, entry)
        finally:
            strand.elapsed += entry.seconds
        if result.status == "refused" and (scope.grading or not execution.is_refused_for_good(sandbox.traits)):
            raise ProviderError(f"the sandbox {sandbox.name} refused to run it: {result.reason}")
        return result

    async def aclose(self) -> None:
        """Do nothing: the session closes its sandbox."""

    async def _make(self, execution: Execution, entry: ExecutionEntry) -> ExecResult:
        """Make it, and enter what came of it even where nothing did."""
        watch = Stopwatch(self._scope.clock)
        try:
            made = await self._scope.execute(execution, entry.key, watch)
            entry.cached, entry.seconds, entry.result = made.cached, made.result.seconds, made.result
            return made.result
        finally:
            if entry.result is None:
                entry.seconds = watch.stop()
            self._span.entries.append(entry)

    def _draw(self, strand: Strand, execution: Execution, identity: str) -> tuple[int | None, str | None]:
        """The draw that an execution is, and what it is remembered by."""
        if not execution.is_whole:
            return None, None
        address = execution.address(identity)
        draw = self._scope.draw_base + self._scope.draw(strand, address.base, None)
        return draw, address.key(draw)


def _first_line(work: Program | Command, title: str | None) -> str:
    text = title or (work.source if isinstance(work, Program) else shlex.join(work.argv))
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _refuse_other_kinds(work: Any, files: Any, stdin: Any, limits: Any) -> None:
    if not isinstance(work, Program | Command):
        raise UserError(f"run.sandbox.execute takes a Program or a Command, not {work!r:.60}: write Program(source)")
    if isinstance(work, Command) and isinstance(work.argv, str):
        raise UserError("a Command takes its words one by one, such as Command(('python', '-V'))")
    if not isinstance(stdin, bytes) or not all(isinstance(content, bytes) for content in files.values()):
        raise UserError("run.sandbox.execute takes files and stdin as bytes: write text.encode()")
    if not isinstance(limits, Limits | None):
        raise UserError(f"run.sandbox.execute takes its limits as Limits(seconds=…, memory=…), not {limits!r:.60}")
