"""Running a command's work in a session of its own."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treadle.cli.codes import INTERRUPTED
from treadle.cli.interruption import Interruption
from treadle.cli.output import reserved_stdout, say
from treadle.errors import Caution, UserError

if TYPE_CHECKING:
    from treadle.ledger.session import Session


def in_session(
    config: Path | None,
    work: Callable[[Session], Awaitable[int]],
    *,
    keyless: bool = False,
    sandbox: str | None = None,
) -> int:
    """Do a command's work in a session of its own, signals taken care of.

    Args:
        config: A treadle.toml, or ``None`` for the one found upwards from here.
        work: Does everything, printing included, while the session is open; returns the exit code.
        keyless: Whether only an estimate is made: models then need no key.
        sandbox: A kind of sandbox, or ``None`` for the file's.

    Raises:
        UserError: When the file cannot be used, or what was asked is wrong.
    """
    check_config(config)
    with reserved_stdout(), cautions_said():
        return asyncio.run(_in_session(config, work, keyless, sandbox))


@contextmanager
def cautions_said() -> Generator[None]:
    """Say each caution as one line, each text once; other warnings stay what they are."""
    said: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", Caution)
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
            if issubclass(category, Caution):
                if str(message) not in said:
                    said.add(str(message))
                    say(f"caution: {message}")
            else:
                shown(message, category, *place)

        warnings.showwarning = show
        yield


def check_config(config: Path | None) -> None:
    """Refuse a ``--config`` that is not there.

    Raises:
        UserError: Says how to get one.
    """
    if config is not None and not config.is_file():
        raise UserError(f"--config {config}: there is no such file; `treadle init` writes one")


async def _in_session(
    config: Path | None, work: Callable[[Session], Awaitable[int]], keyless: bool, sandbox: str | None
) -> int:
    if keyless:
        from treadle.cli.keyless import KeylessSession as Session
    else:
        from treadle.ledger.session import Session

    async with Session(config, sandbox=sandbox) as session:
        interruption = Interruption(asyncio.get_running_loop(), asyncio.current_task(), session.interrupt)
        with interruption.listening():
            try:
                return await work(session)
            except asyncio.CancelledError:
                if interruption.happened:
                    say("interrupted before there was a report; what was paid for is kept")
                    return INTERRUPTED
                raise
