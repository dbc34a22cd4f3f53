"""A progress bar on stderr: rate, spent, time left; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from treadle.cli import wording

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from treadle.evaluation.measuring import Progress
    from treadle.ledger.tally import Tally

_PAUSE_S = 0.1
"""Between two updates: thousands of questions a second must not wait for a terminal."""


@contextmanager
def progress_bar(title: str) -> Generator[Callable[[Progress], None] | None]:
    """A bar for as long as the block runs; gives what is to be told after every question.

    Args:
        title: Stands before the bar.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TextColumn("{task.fields[spent]}", markup=False),
        time_left(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,
    )
    with bar:
        task = bar.add_task(title, total=None, rate="", spent="")
        shown_at = 0.0

        def watch(progress: Progress) -> None:
            nonlocal shown_at
            now = bar.get_time()
            if now - shown_at < _PAUSE_S and progress.done < progress.total:
                return
            shown_at = now
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            rate = f"{speed:.1f}/s" if speed else ""
            bar.update(
                task,
                description=f"{title}: references" if progress.checking else title,
                completed=progress.done,
                total=progress.total,
                rate=rate,
                spent=spent(progress.tally),
            )

        yield watch


def time_left() -> ProgressColumn:
    """The time left with its word; nothing while it cannot be told."""
    from rich.progress import Task, TimeRemainingColumn
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            known = task.finished or task.time_remaining is not None
            return super().render(task).append(" left") if known else Text("")

    return TimeLeft(compact=True)


def spent(tally: Tally) -> str:
    """What was paid so far: dollars where every call has a price, else calls."""
    if tally.total_usd is not None and tally.usd:
        return wording.money(tally.usd)
    return wording.plural(tally.paid, "call")


@contextmanager
def bytes_bar(title: str) -> Generator[Callable[[int, int | None], None] | None]:
    """A bar for something that is fetched; gives what is to be told of bytes so far and bytes in all.

    Args:
        title: Stands before the bar.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(bar_width=None), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(compact=True))
    bar = Bar(TextColumn("{task.description}", markup=False), *columns, console=Console(stderr=True), transient=True)
    with bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
