"""What is said about taking a patch before anything is paid."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from treadle.errors import UserError
from treadle.fixing.delivery import check_delivery

_NOBODY = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgSign=false")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit."""
    (tmp_path / "m.py").write_text("1\n")
    env = {"PATH": os.environ["PATH"], "HOME": os.devnull}
    for words in (("init", "-q"), ("add", "m.py"), (*_NOBODY, "commit", "-q", "-m", "first")):
        subprocess.run(("git", *words), cwd=tmp_path, env=env, check=True)
    return tmp_path


async def test_a_clean_repository_takes_either_way_without_a_word(repo: Path) -> None:
    await check_delivery(repo, apply=True, branch=None)
    await check_delivery(repo, apply=False, branch="fix")


async def test_uncommitted_changes_forbid_either_way(repo: Path) -> None:
    (repo / "m.py").write_text("2\n")
    with pytest.raises(UserError, match="--apply: 1 tracked file"):
        await check_delivery(repo, apply=True, branch=None)
    with pytest.raises(UserError, match="--branch: 1 tracked file .* commit or stash"):
        await check_delivery(repo, apply=False, branch="fix")


async def test_both_ways_at_once_are_refused(repo: Path) -> None:
    with pytest.raises(UserError, match="one of them"):
        await check_delivery(repo, apply=True, branch="fix")
