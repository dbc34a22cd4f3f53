"""Exit codes, as the contract says."""

from __future__ import annotations

DONE, UNUSABLE, MISTAKE, LIMITED, INTERRUPTED = 0, 1, 2, 3, 130
_BY_END = {"done": DONE, "infra": UNUSABLE, "budget": LIMITED, "interrupt": INTERRUPTED}


def exit_code(ended_by: str, *, usable: bool = True) -> int:
    """The exit code of a command that came to an end.

    Args:
        ended_by: As in the command's document.
        usable: Whether there is a result: something was scored, found or answered.
    """
    code = _BY_END.get(ended_by, UNUSABLE)
    return UNUSABLE if code == DONE and not usable else code
