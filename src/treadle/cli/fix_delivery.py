"""What ``treadle fix`` does with a patch in the end: files, and the user's repository where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treadle.errors import TreadleError

if TYPE_CHECKING:
    from treadle.cli.fix_options import FixOptions
    from treadle.fixing.report import FixReport
    from treadle.workspaces.base import Repository

_ANYWAY = "; --anyway takes it all the same"
_REMEDY = {"interrupt": "; the same command goes on from here"}


async def delivered(
    repository: Repository, issue: str, report: FixReport, options: FixOptions
) -> tuple[dict[str, Any], TreadleError | None]:
    """Bring a patch where it was asked for, where nothing speaks against it.

    Args:
        repository: The user's.
        issue: Its first line becomes a commit's.
        report: With the patch.
        options: Say where it goes.

    Returns:
        What the report's document has besides, and what kept the patch from where it should go.
    """
    from treadle.fixing.delivery import deliver
    from treadle.fixing.keeping import copy_patch

    if not report.patch:
        return {}, None
    document: dict[str, Any] = {}
    try:
        document["patch_file"] = (await copy_patch(report, options.output)).patch_file
        if not options.where():
            return document, None
        if report.doubt and (not options.anyway or report.ended_by == "interrupt"):
            return document | {"not_delivered": f"{report.doubt}{_REMEDY.get(report.ended_by, _ANYWAY)}"}, None
        document |= await deliver(repository.path, report, issue, apply=options.apply, branch=options.branch)
    except TreadleError as error:
        return document | {"not_delivered": str(error)}, error
    return document, None
