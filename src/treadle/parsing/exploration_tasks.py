"""Reading what a manager wants explored."""

from __future__ import annotations

import re

from treadle.parsing.thinking import without_thinking

_TASK = re.compile(
    r"^[\s>#*_`~•–—+-]*+(?:(?:\[[ xX]\]|\(?[0-9]{1,3}[.)])[\s*_`]*+){0,2}+"
    r"(?:TASK|Task)(?:[ ]?\#?[0-9]{1,3})?[*_`]*+\s*+[:：][*_`]*+(?P<what>.*)$"
)
_MARKS = "*_~ \t"


def exploration_tasks(text: str) -> tuple[str, ...]:
    """The tasks of a reply: what follows ``TASK:`` at the start of a line, in their order, each once.

    Thoughts are taken out first; list, quote, bold and heading marks, check boxes, numbering (``1. TASK:``,
    ``TASK 2:``) and fences are ignored. A task whose line ends behind the colon is the line that follows.

    Args:
        text: A manager's reply.
    """
    found: list[str] = []
    waiting = False
    for line in without_thinking(text).splitlines():
        match = _TASK.match(line)
        said = _without_marks(match["what"] if match else line)
        if match or waiting:
            waiting = not said and (match is not None or not line.strip())
            if said:
                found.append(said)
    return tuple(dict.fromkeys(found))


def _without_marks(text: str) -> str:
    said = text.strip(_MARKS)
    # A mark that the word was written in ends behind the task.
    return said.rstrip("`").rstrip(_MARKS) if said.count("`") % 2 else said
