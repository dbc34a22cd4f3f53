"""Running a command's work in a session of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from treadle.cli.codes import INTERRUPTED
from treadle.cli.interruption import Interruption
from treadle.errors import UserError

if TYPE_CHECKING:
    from treadle.ledger.session import Session


def in_session(config: Path | None, work: Callable[[Session], Awaitable[int]]) -> int:
    """Do a command's work in a session of its own, signals taken care of.

    Args:
        config: A treadle.toml, or ``None`` for the one found upwards from here.
        work: Does everything, printing included, while the session is open; returns the exit code.

    Raises:
        UserError: When the file cannot be used, or what was asked is wrong.
    """
    if config is not None and not config.is_file():
        raise UserError(f"--config {config}: there is no such file; `treadle init` writes one")
    return asyncio.run(_in_session(config, work))


async def _in_session(config: Path | None, work: Callable[[Session], Awaitable[int]]) -> int:
    from treadle.ledger.session import Session

    async with Session(config) as session:
        interruption = Interruption(asyncio.get_running_loop(), asyncio.current_task(), session.interrupt)
        with interruption.listening():
            try:
                return await work(session)
            except asyncio.CancelledError:
                if interruption.happened:
                    return INTERRUPTED
                raise
