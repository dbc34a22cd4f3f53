"""What ``treadle doctor`` says of the sandbox: which it is, the proof that it isolates, and what else there is."""

from __future__ import annotations

import asyncio

from treadle.cli.checks import Check
from treadle.config import SANDBOX_KINDS
from treadle.errors import TreadleError, UserError
from treadle.sandbox import choose
from treadle.sandbox.base import Sandbox
from treadle.sandbox.proofs import prove

_PATIENCE_S = 20.0
_REASON = 160
"""Characters of the reason why one of the others does not work, and as many of what to do."""


async def sandbox_checks(kind: str) -> list[Check]:
    """The sandbox that programs would run in, each attempt to get out of it, and the other kinds, a line each.

    Without any the rest of Treadle works, so that is no fault; one that the file names has to work.

    Args:
        kind: What the file asks for.
    """
    try:
        sandbox = await choose.open_sandbox(kind)
    except UserError as error:
        return [Check("sandbox", False, str(error), optional=kind == "auto")]
    try:
        found = await _proven(sandbox)
    finally:
        await sandbox.aclose()
    return [*found, *await other_kinds(sandbox.name)]


async def _proven(sandbox: Sandbox) -> list[Check]:
    if not sandbox.traits.isolated:
        detail = f"{sandbox.name}: programs run unprotected; take the kind out of [sandbox] for the strongest there is"
        return [Check("sandbox", False, detail, optional=True)]
    proofs = await prove(sandbox)
    through = [proof.name for proof in proofs if not proof.ok]
    detail = f"{sandbox.name}, isolates"
    if through:
        detail = f"{sandbox.name} lets through: {', '.join(through)}; name another kind under [sandbox] kind"
    shown = [Check(f"sandbox: {proof.name}", proof.ok, proof.detail) for proof in proofs]
    return [Check("sandbox", not through, detail), *shown]


async def other_kinds(chosen: str) -> list[Check]:
    """Whether each kind but the one that was chosen would work here, and if not, why and what to do.

    Args:
        chosen: The kind that programs would run in.
    """
    found: list[Check] = []
    for kind in SANDBOX_KINDS:
        if kind not in ("auto", "none", chosen):
            fault = await _fault(kind)
            found.append(Check(f"sandbox {kind}", not fault, fault or "would work", optional=True))
    return found


async def _fault(kind: str) -> str:
    """Why a kind does not work here; empty where it does."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            sandbox = await choose.open_sandbox(kind)
            await sandbox.aclose()
    except TimeoutError:
        return f"did not answer within {_PATIENCE_S:g} s"
    except TreadleError as error:
        reason, mark, remedy = str(error).splitlines()[0].removeprefix(f"{kind}: ").rpartition("; ")
        return "; ".join(_cut(part) for part in (reason, remedy) if part) if mark else _cut(remedy)
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _REASON else f"{text[: _REASON - 1]}…"
