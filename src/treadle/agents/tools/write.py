"""The tool ``write``: a whole file."""

from __future__ import annotations

from treadle.agents.tools.base import WorkerTool, declared
from treadle.agents.tools.files import file_action

WRITE = WorkerTool(
    declared(
        "write",
        "Write a whole file: a new one with the folders it needs, or in place of what the file holds. To change a part "
        "of a file, use edit.",
        {"path": {"type": "string", "minLength": 1}, "content": {"type": "string"}},
        ("path", "content"),
    ),
    file_action("write"),
    edits=True,
)
