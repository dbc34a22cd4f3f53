"""The tool ``edit``: an exact text of a file replaced by another."""

from __future__ import annotations

from treadle.agents.tools.base import WorkerTool, declared
from treadle.agents.tools.files import file_action

EDIT = WorkerTool(
    declared(
        "edit",
        "Replace a text in a file. The old text must match exactly, with its indentation and without line numbers, and "
        "occur once; with all=true every occurrence is replaced.",
        {
            "path": {"type": "string", "minLength": 1},
            "old": {"type": "string"},
            "new": {"type": "string"},
            "all": {"type": "boolean"},
        },
        ("path", "old", "new"),
    ),
    file_action("edit"),
    edits=True,
)
