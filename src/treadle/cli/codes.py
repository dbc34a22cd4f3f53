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


def explained(code: int, ended_by: str, reason: str, *, as_json: bool) -> int:
    """Say on stderr why a document comes with an exit code that is not 0; gives the code.

    Args:
        code: The exit code.
        ended_by: As in the command's document.
        reason: In words; a table shows it by itself.
        as_json: Whether a document was printed instead of a table.
    """
    if as_json and code != DONE:
        from treadle.cli import wording
        from treadle.cli.output import say

        say(" ".join(wording.ending(ended_by, reason).split()))
    return code
