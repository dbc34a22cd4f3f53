"""The ``treadle`` command's way in: loads nothing before it can say that it was interrupted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from treadle.cli.codes import DONE, INTERRUPTED
from treadle.cli.output import say


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line.

    Args:
        arguments: Everything after ``treadle``; the process's own when not given.

    Returns:
        The exit code, as the contract says.
    """
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    import typer

    from treadle.cli.app import app
    from treadle.cli.mistakes import told

    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="treadle", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:  # noqa: BLE001  no user ever sees a traceback that was not asked for
        return told(error)
    return code if isinstance(code, int) else DONE


if __name__ == "__main__":
    sys.exit(main())
