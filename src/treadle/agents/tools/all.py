"""The tools that a worker is given."""

from __future__ import annotations

from treadle.agents.tools.base import WorkerTool
from treadle.agents.tools.edit import EDIT
from treadle.agents.tools.read import READ
from treadle.agents.tools.search import SEARCH
from treadle.agents.tools.shell import SHELL
from treadle.agents.tools.submit import SUBMIT
from treadle.agents.tools.write import WRITE

TOOLS = (SHELL, READ, SEARCH, EDIT, WRITE, SUBMIT)


def tools_for(*, edits: bool) -> dict[str, WorkerTool]:
    """The tools by name; those that change files only where something shall change.

    Args:
        edits: Whether it shall.
    """
    return {tool.name: tool for tool in TOOLS if edits or not tool.edits}
