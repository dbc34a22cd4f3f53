"""A folder with a defect, for whoever fixes it."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a defect that is no repository, in a folder of its own that is the current one."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "repo"
    path.mkdir()
    (path / "calc.py").write_text("def double(x):\n    return x + 1\n")
    return path
