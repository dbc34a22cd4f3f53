"""A patch in the user's own repository: applied to its files, or committed on a branch."""

from __future__ import annotations

from pathlib import Path

import pytest
from repositories import git, picture, repository, write

from treadle.errors import UserError
from treadle.workspaces.delivery import apply_patch, check_clean, check_new_branch, make_branch

FILES = {"calc.py": b"VALUE = 1\r\n", ".gitattributes": b"*.txt filter=e\n", "a.txt": b"a\n"}
FIX = b"--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-VALUE = 1\r\n+VALUE = 2\r\n"


def armed(folder: Path) -> Path:
    source = repository(folder / "r", FILES)
    evil = f"touch {folder}/ran"
    with (source / ".git/config").open("a") as config:
        config.write(
            f'[filter "e"]\n clean = "{evil}"\n smudge = "{evil}"\n required = true\n[commit]\n gpgSign = true\n'
        )
    for hook in ("post-commit", "reference-transaction", "pre-commit", "post-index-change", "applypatch-msg"):
        write(source, {f".git/hooks/{hook}": f"#!/bin/sh\n{evil}\n".encode()})
        (source / f".git/hooks/{hook}").chmod(0o755)
    return source


async def test_a_patch_is_applied_byte_for_byte_and_runs_nothing(tmp_path: Path) -> None:
    source = armed(tmp_path)
    await apply_patch(source, FIX)
    assert (source / "calc.py").read_bytes() == b"VALUE = 2\r\n"
    with pytest.raises(UserError, match="1 tracked file .*uncommitted"):
        await apply_patch(source, FIX)
    with pytest.raises(UserError, match="uncommitted"):
        await check_clean(source)
    assert not (tmp_path / "ran").exists()


async def test_a_branch_holds_the_patch_and_nothing_else_changes(tmp_path: Path) -> None:
    source = armed(tmp_path)
    before, index = picture(source), (source / ".git/index").read_bytes()
    await check_new_branch(source, "fix/it")
    commit = await make_branch(source, "fix/it", FIX, "Fix: it\n")
    assert (picture(source), (source / ".git/index").read_bytes()) == (before, index)
    assert not (tmp_path / "ran").exists()
    assert git(source, "rev-parse", "fix/it").strip() == commit
    assert git(source, "diff", "--name-only", "main", "fix/it") == "calc.py\n"
    assert git(source, "log", "-1", "--format=%s", "fix/it") == "Fix: it\n"


async def test_what_cannot_be_a_branch_is_refused(tmp_path: Path) -> None:
    source = armed(tmp_path)
    git(source, "branch", "some/where")
    names = {
        "main": "already",
        "some": "beside the branch some/where",
        "some/where/else": "beside the branch some/where",
    }
    names |= dict.fromkeys(("a..b", "-x", "HEAD", "@", "@{-1}", "x y", "a.lock", ""), "no name")
    for name, words in names.items():
        with pytest.raises(UserError, match=words):
            await check_new_branch(source, name)
    for name in ("some/other", "mainly", "som"):
        await check_new_branch(source, name)
    with pytest.raises(UserError, match="does not apply"):
        await make_branch(source, "fix", FIX.replace(b"-VALUE = 1", b"-VALUE = 7"), "x")
    with pytest.raises(UserError, match="no git repository"):
        await make_branch(tmp_path, "fix", FIX, "x")


async def test_a_plain_folder_takes_a_patch_too(tmp_path: Path) -> None:
    write(tmp_path, {"calc.py": b"VALUE = 1\r\n"})
    await apply_patch(tmp_path, FIX)
    with pytest.raises(UserError, match="does not apply"):
        await apply_patch(tmp_path, FIX)
    assert (tmp_path / "calc.py").read_bytes() == b"VALUE = 2\r\n"
