"""The sandbox for small programs: Monty, which starts one in well under a millisecond."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

from treadle.errors import SandboxError
from treadle.sandbox.base import (
    Command,
    ExecResult,
    Limits,
    Program,
    Status,
    Surroundings,
    Traits,
)
from treadle.sandbox.monty.calls import HostCalls
from treadle.sandbox.monty.faults import Ending, ending, time_is_up
from treadle.sandbox.monty.pool import MontyPool, monty_version
from treadle.sandbox.monty.session import OutOfTime, Session, WorkerLost
from treadle.sandbox.output import Kept

if TYPE_CHECKING:
    from pydantic_monty import SyncSnapshot

_OTHER = "another sandbox does that (--sandbox auto)"
_STATUS: Mapping[str, Status] = {"timed_out": "timed_out", "out_of_memory": "out_of_memory", "crashed": "crashed"}


class MontySandbox:
    """Runs programs that need neither files nor processes, and only part of Python.

    Of its limits ``seconds``, ``cpu_seconds``, ``memory`` and ``output_bytes`` hold; there is nothing for the others
    to count. Programs wait until the pool has memory and a processor for them; their seconds begin then.

    Args:
        pool: Where its workers come from; one of its own, where it is not given, which ends with it.

    Raises:
        SandboxError: Monty is not installed.
    """

    name = "monty"
    traits = Traits(isolated=True, commands=False, processes=False, folders=False, inputs=False, places=False)

    def __init__(self, pool: MontyPool | None = None) -> None:
        self.identity = f"monty {monty_version()}"
        self._pool = pool or MontyPool()
        self._owned = pool is None

    async def execute(
        self,
        work: Program | Command,
        *,
        files: Mapping[str, bytes] | None = None,
        stdin: bytes = b"",
        limits: Limits = Limits(),  # noqa: B008
        surroundings: Surroundings = Surroundings(),  # noqa: B008
    ) -> ExecResult:
        """Run a program to its end; whatever Monty cannot do for it is refused with the reason.

        Args:
            work: A program; no command.
            files: None can be given.
            stdin: None can be given.
            limits: What it may take.
            surroundings: Nothing of this machine can be seen.
        """
        reason = _refusal(work, bool(files), stdin, surroundings)
        if reason or not isinstance(work, Program):
            return ExecResult("refused", reason=reason)
        try:
            async with self._pool.checkout(limits) as session:
                return await _run(session, work.source, limits)
        except SandboxError as error:
            return ExecResult("refused", reason=str(error))

    async def aclose(self) -> None:
        """End the workers of its own pool; may be called twice."""
        if self._owned:
            await self._pool.aclose()


def _refusal(work: Program | Command, files: bool, stdin: bytes, surroundings: Surroundings) -> str:
    if isinstance(work, Command):
        return f"Monty runs programs in Python, no commands; {_OTHER}"
    if files:
        return f"programs in Monty have no files; {_OTHER}, or write what they need into the program"
    if stdin:
        return f"programs in Monty cannot read their input; {_OTHER}, or write what they need into the program"
    if surroundings.network:
        return f"programs in Monty have no network; {_OTHER}"
    if surroundings.env:
        return f"programs in Monty have no environment variables; {_OTHER}"
    if surroundings != Surroundings(writable=surroundings.writable):
        return f"programs in Monty see no folder of this machine; {_OTHER}"
    return ""


async def _run(session: Session, source: str, limits: Limits) -> ExecResult:
    from pydantic_monty import MontyError

    streams = {"stdout": Kept(limits.output_bytes), "stderr": Kept(limits.output_bytes)}

    def printed(stream: str, text: str) -> None:
        streams[stream].add(text.encode(errors="replace"))

    # The last expression shows that the end was reached: Monty lets a module return.
    last = secrets.token_hex(16)
    end: Ending | None = None
    try:
        snapshot: SyncSnapshot = await session.start(f"{source}\n{last!r}", printed)
        if await HostCalls(session, {}).answer(snapshot) != last:
            text = "SyntaxError: 'return' outside function"
            end = Ending("syntax", text, shown=text)
    except MontyError as error:
        end = ending(error, lines=source.count("\n") + 1, memory=limits.memory, seconds=session.seconds)
    except OutOfTime:
        end = Ending("timed_out", time_is_up(session.seconds))
    except WorkerLost:
        end = Ending("crashed", "the sandbox was closed while it ran")
    if end is not None and end.shown and not end.quiet:
        streams["stderr"].add(f"{end.shown}\n".encode(errors="replace"))
    return _result(end, streams["stdout"], streams["stderr"], session.used)


def _result(end: Ending | None, stdout: Kept, stderr: Kept, seconds: float) -> ExecResult:
    status: Status = "ok" if end is None or end.quiet else _STATUS.get(end.kind, "failed")
    reason = ""
    if end is not None and end.kind == "unsupported":
        reason = f"{end.message}, or run it where there is a whole Python (--sandbox auto)"
    elif end is not None and status not in ("ok", "failed"):
        reason = end.message
    return ExecResult(
        status,
        stdout.text(),
        stderr.text(),
        exit_code={"ok": 0, "failed": 1}.get(status),
        signal=end.signal if end is not None else None,
        seconds=seconds,
        truncated=stdout.truncated or stderr.truncated,
        reason=reason,
    )
