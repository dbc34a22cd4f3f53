"""What becomes of a patch in the user's own repository, where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treadle.errors import UserError
from treadle.fixing.report import FixReport
from treadle.workspaces.delivery import apply_patch, check_clean, check_new_branch, make_branch

_SUBJECT = 72


async def check_delivery(repository: Path, *, apply: bool, branch: str | None) -> None:
    """Refuse now what would be refused in the end.

    Args:
        repository: The user's.
        apply: Whether the patch shall be applied to its files.
        branch: The new branch that it shall be committed on.

    Raises:
        UserError: There are changes of tracked files (a branch would begin without them), no repository for a branch,
            or the branch is there already.
    """
    if apply and branch is not None:
        raise UserError("--apply and --branch are two ways to take the patch; give one of them")
    if apply or branch is not None:
        try:
            await check_clean(repository)
        except UserError as error:
            raise UserError(f"{'--apply' if apply else '--branch'}: {error}") from None
    if branch is not None:
        await check_new_branch(repository, branch)


async def deliver(
    repository: Path, report: FixReport, issue: str, *, apply: bool, branch: str | None
) -> dict[str, Any]:
    """Do with a patch what was asked for.

    Args:
        repository: The user's.
        report: With the patch.
        issue: Its first line becomes the commit's.
        apply: Whether to apply it to the files.
        branch: The new branch to commit it on.

    Returns:
        ``applied`` and ``branch`` with its ``commit``, as JSON values; nothing where nothing was asked for.

    Raises:
        UserError: The repository was changed meanwhile, so that it does not apply.
    """
    if apply:
        await apply_patch(repository, report.patch.content)
        return {"applied": str(repository)}
    if branch is not None:
        commit = await make_branch(repository, branch, report.patch.content, _message(issue))
        return {"branch": branch, "commit": commit}
    return {}


def _message(issue: str) -> str:
    first = next((line.strip("# \t") for line in issue.splitlines() if line.strip("# \t")), "issue")
    return f"Fix: {first}"[:_SUBJECT].rstrip() + "\n"
