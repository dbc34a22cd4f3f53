"""The tool ``read``: numbered lines of a file."""

from __future__ import annotations

from treadle.agents.tools.base import WorkerTool, declared
from treadle.agents.tools.files import READ_LIMIT, file_action

READ = WorkerTool(
    declared(
        "read",
        "Read a text file. Lines come with their numbers, at most 400 of them; what was left out is said.",
        {
            "path": {"type": "string", "minLength": 1},
            "first": {"type": "integer", "minimum": 1, "description": "First line, from 1."},
            "last": {"type": "integer", "minimum": 1, "description": "Last line."},
        },
        ("path",),
    ),
    file_action("read", READ_LIMIT),
)
