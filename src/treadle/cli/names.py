"""Long names in narrow columns: broken after punctuation, never within a word where that can be avoided."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.text import Text

from treadle.cli.output import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.containers import Lines

_PIECE = re.compile(r".+?(?:[-?&,:>|/+= ]+|$)", re.DOTALL)


class Name(Text):
    """A name from outside, such as a workflow's or a task's."""

    @classmethod
    def of(cls, name: str) -> Name:
        """The name, with nothing in it that steers a terminal."""
        return cls(clean(name))

    def wrap(self, console: Console, width: int, **settings: Any) -> Lines:
        """Lines of at most so many columns."""
        if self.cell_len <= width or "\n" in self.plain:
            return super().wrap(console, width, **settings)
        broken = Text("\n".join(_lines(self.plain, width)), self.style)
        return broken.wrap(console, width, **settings)


def _lines(name: str, width: int) -> Iterator[str]:
    line = ""
    for piece in _PIECE.findall(name):
        if line and len(line) + len(piece.rstrip()) > width:
            yield line.rstrip()
            line = ""
        line += piece
    yield line.rstrip()
