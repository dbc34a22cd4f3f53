"""The tool ``search``: lines of files that match."""

from __future__ import annotations

from treadle.agents.tools.base import WorkerTool, declared
from treadle.agents.tools.files import file_action

SEARCH = WorkerTool(
    declared(
        "search",
        "Find lines in files by a regular expression; a pattern that is none is searched for as it stands. Binary, "
        "hidden and git-ignored files are left out.",
        {
            "pattern": {"type": "string", "minLength": 1},
            "path": {"type": "string", "minLength": 1, "description": "A file or folder; everything without it."},
            "glob": {"type": "string", "minLength": 1, "description": "Only files of such names, such as *.py."},
        },
        ("pattern",),
    ),
    file_action("search"),
)
