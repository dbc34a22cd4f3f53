"""What ``treadle fix`` says while it works: a line on stderr for each phase, and a clock on the one that runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from treadle.cli import wording
from treadle.cli.output import clean, say
from treadle.errors import UserError
from treadle.sandbox.process import undisturbed
from treadle.workflows.manager_worker.course import Course, Phase, PhaseRow
from treadle.workspaces.base import Patch

if TYPE_CHECKING:
    from rich.status import Status

_GRACE_S = 0.3
"""How long an editor has to close its files when it is ended."""


@contextmanager
def watched_course(*, approve: bool) -> Generator[Course]:
    """A course that is shown on stderr for as long as the block runs.

    Args:
        approve: Whether the plan is opened in an editor.

    Raises:
        UserError: There is no editor.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if approve and not editor:
        raise UserError("--approve-plan opens the plan in an editor, and neither $VISUAL nor $EDITOR names one")
    if not sys.stderr.isatty():
        yield WatchedCourse(editor if approve else "")
        return
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    with console.status("copying the repository", refresh_per_second=4) as status:
        yield WatchedCourse(editor if approve else "", status)


class WatchedCourse(Course):
    """Tells of each phase as it begins and ends, and lets the plan be edited.

    Args:
        editor: The command of an editor for the plan; empty for none.
        status: The line that turns while something runs.
    """

    def __init__(self, editor: str = "", status: Status | None = None) -> None:
        super().__init__()
        self._editor = editor
        self._status = status

    def begin(self, phase: Phase, round: int, mode: str = "") -> None:
        """Show what runs now."""
        if self._status is not None:
            self._status.update(title(phase, round, mode))

    def end(self, row: PhaseRow) -> None:
        """Say what came of it."""
        super().end(row)
        say(f"{title(row.phase, row.round, row.mode)}: {outcome(row)}")

    def remark(self, text: str) -> None:
        """Say it once."""
        if text not in self.remarks:
            say(text)
        super().remark(text)

    def changed(self, patch: Patch) -> None:
        """Say how much changed."""
        super().changed(patch)
        lines = sum(each.added for each in patch.files), sum(each.removed for each in patch.files)
        say(f"the patch changes {wording.plural(len(patch.files), 'file')}: +{lines[0]} −{lines[1]}")

    async def approve_plan(self, plan: str) -> str:
        """The plan as it comes back from the editor.

        Raises:
            UserError: The editor fails, or gives back nothing.
        """
        if not self._editor:
            return plan
        if self._status is not None:
            self._status.stop()
        edited = await _edited(self._editor, plan)
        if self._status is not None:
            self._status.start()
        if not edited.strip():
            raise UserError("the plan came back empty, so nothing was implemented")
        return edited


def title(phase: str, round: int, mode: str) -> str:
    """What a phase is called."""
    numbered = f"{phase} {round}" if phase in ("exploration", "implementation", "review") else phase
    return f"{numbered} ({mode})" if mode and phase == "implementation" else numbered


def outcome(row: PhaseRow) -> str:
    """What came of a phase, and what it cost fresh."""
    said = row.verdict or row.patch or row.remark or "done"
    calls = sum(spent.calls for spent in row.spent.values())
    tokens = sum(spent.usage.total for spent in row.spent.values())
    parts = [said, wording.plural(calls, "call"), f"{wording.tokens(tokens)} tokens"]
    return clean(" · ".join(parts) + (f" · {row.remark}" if row.remark not in ("", said) else ""))


async def _edited(editor: str, plan: str) -> str:
    """A plan as it comes back from an editor, which is ended with whoever waits for it."""
    with tempfile.TemporaryDirectory(prefix="treadle-plan-") as folder:
        file = Path(folder) / "plan.md"
        file.write_text(plan, encoding="utf-8")
        try:
            running = await asyncio.create_subprocess_exec(*shlex.split(editor), str(file))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UserError(f"the editor {editor!r} could not be started: {reason}") from None
        try:
            code = await running.wait()
        finally:
            if running.returncode is None:
                await undisturbed(_end(running))
        if code != 0:
            raise UserError(f"the editor {editor!r} ended with exit code {code}; nothing was implemented")
        return file.read_text(encoding="utf-8", errors="replace")


async def _end(running: asyncio.subprocess.Process) -> None:
    """Ask a process to end, and make it."""
    with contextlib.suppress(ProcessLookupError):
        running.terminate()
        try:
            await asyncio.wait_for(running.wait(), _GRACE_S)
        except TimeoutError:
            running.kill()
            await running.wait()
