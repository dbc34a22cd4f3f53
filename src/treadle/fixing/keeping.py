"""The file that a patch is left in: one in the run's folder always, and a copy where somebody wants it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from treadle.errors import UserError
from treadle.fixing.report import FixReport
from treadle.workspaces.base import Patch

PATCH_NAME = "fix.patch"
_BEGINNING = b"diff --git "


def check_output(output: Path | None, issue: Path | None = None) -> None:
    """Refuse now a file that a patch could not be written to in the end, or that holds something else.

    Args:
        output: Where the patch shall go; ``None`` where nobody said so.
        issue: The file of the issue, where it comes from one.

    Raises:
        UserError: It is a folder, cannot be written, is the issue, or is there and holds no patch.
    """
    if output is None:
        return
    if output.is_dir():
        raise UserError(f"-o {output} is a folder; name the file that the patch goes to")
    if not output.parent.is_dir():
        raise UserError(f"-o {output}: the folder {output.parent} does not exist")
    is_there = output.exists()
    if is_there and not output.is_file():
        return
    if is_there and issue is not None and issue.exists() and output.samefile(issue):
        raise UserError(f"-o {output} is the issue itself; name another file")
    try:
        with output.open("a+b") as file:
            file.seek(0)
            beginning = file.read(len(_BEGINNING))
        if not is_there:
            output.unlink()
    except OSError as error:
        raise UserError(f"-o {output} cannot be written: {error.strerror}; name another file") from None
    if beginning and beginning != _BEGINNING:
        raise UserError(f"-o {output} is there already and holds no patch; name another file, or remove it")


async def keep_patch(folder: Path, patch: Patch) -> Path:
    """Write a patch into a run's folder, the whole of it or nothing.

    Args:
        folder: The run's; made where it is not there.
        patch: With something in it.

    Returns:
        The file.

    Raises:
        UserError: It cannot be written.
    """
    file = folder / PATCH_NAME

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(".unfinished")
        unfinished.write_bytes(patch.content)
        os.replace(unfinished, file)  # noqa: PTH105

    try:
        await asyncio.to_thread(write)
    except OSError as error:
        raise UserError(f"the patch cannot be written to {file}: {error.strerror}") from error
    return file


async def copy_patch(report: FixReport, output: Path | None) -> FixReport:
    """The report with its patch in the file that was asked for, besides the one in the run's folder.

    Args:
        report: Of a fix.
        output: That file; ``None`` where nobody named one.

    Raises:
        UserError: It cannot be written; says where the patch is.
    """
    if output is None or not report.patch:
        return report
    try:
        await asyncio.to_thread(output.write_bytes, report.patch.content)
    except OSError as error:
        kept = f"; the patch is in {report.patch_file}" if report.patch_file else ""
        raise UserError(f"-o {output} cannot be written: {error.strerror}{kept}") from error
    return replace(report, patch_file=str(output))
