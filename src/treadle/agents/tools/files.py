"""Running the file tools: inside the sandbox, so that no link and no path leads out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from treadle.agents.tools.base import OBSERVATION_LIMIT, Act, Observation
from treadle.ledger.run import Run
from treadle.parsing.excerpts import excerpt
from treadle.sandbox.base import ExecResult, Program
from treadle.workspaces.workspace import Workspace

READ_LIMIT = 17_000
"""Characters of what is read: the tool itself ends at 16,000, by whole lines."""
_OUTPUT = 512 * 1024
"""Bytes of an answer: JSON may need six for a character."""

_OWN_PATH = "sys.path[:] = [each for each in sys.path if each.startswith(f'{sys.base_prefix}/lib')]"


class _Answer(msgspec.Struct):
    ok: bool
    text: str


def file_action(name: str, limit: int = OBSERVATION_LIMIT) -> Act:
    """What does an action of ``guest/files.py`` in a working copy.

    Args:
        name: ``read``, ``search``, ``edit`` or ``write``.
        limit: Characters of the observation.
    """

    async def act(arguments: Mapping[str, Any], workspace: Workspace, run: Run) -> Observation:
        roomy = replace(workspace, limits=replace(workspace.limits, output_bytes=_OUTPUT))
        asked = msgspec.json.encode({**arguments, "action": name})
        what = arguments.get("path") or arguments.get("pattern") or ""
        return _observed(await roomy.execute(Program(_program()), run, stdin=asked, title=f"{name} {what}"), limit)

    return act


@cache
def _program() -> str:
    text = (Path(__file__).parent / "guest" / "files.py").read_text(encoding="utf-8")
    before, first, rest = text.partition("\nimport ")
    # A module of the repository, such as a shutil.py of its own, must not be what the program imports.
    return f"{before}\nimport sys\n{_OWN_PATH}\n{first}{rest}"


def _observed(result: ExecResult, limit: int) -> Observation:
    try:
        answer = msgspec.json.decode(result.stdout, type=_Answer)
    except msgspec.DecodeError:
        reason = result.reason or result.stderr.strip()[-500:] or "no reason is known"
        words = result.status.replace("_", " ")
        return Observation(f"the tool itself did not end well ({words}): {reason}", result.status, result.seconds)
    return Observation(excerpt(answer.text, limit), "ok" if answer.ok else "failed", result.seconds)
