"""Opening a checkout of anything, its set-up, its trials and tests, and what is refused."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from repositories import checkout_of, git, picture, repository, running, write

from treadle.errors import PatchError, UserError
from treadle.workspaces.base import Patch, Repository
from treadle.workspaces.checkout import open_checkout

FILES = {"calc.py": b"VALUE = 1\n", "run.sh": b"#!/bin/sh\n", ".gitignore": b".venv/\n*.egg-info/\n__pycache__/\n"}
FIX = b"--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-VALUE = 1\n+VALUE = 2\n"


async def test_the_working_tree_counts_and_the_repository_is_not_touched(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {**FILES, "gone.py": b"x\n"})
    write(source, {"calc.py": b"VALUE = 3\n", "more.txt": b"new\n"})
    (source / "gone.py").unlink()
    (source / "loop").symlink_to("loop")
    index = (source / ".git/index").read_bytes()
    async with checkout_of(source, tmp_path / "aside") as checkout:
        assert picture(checkout.workspace.folder).keys() == {*FILES, "more.txt", "loop"}
        assert (checkout.workspace.folder / "calc.py").read_bytes() == b"VALUE = 3\n"
        assert (await checkout.patch()) == Patch()
        assert "2 tracked files with uncommitted changes, which the patch builds on" in checkout.remarks
    assert (source / ".git/index").read_bytes() == index


async def test_environments_stay_where_they_are_and_editable_installs_come_along(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    write(source, {".venv/pyvenv.cfg": b"home=/usr/bin\n", ".venv/bin/x": b""})
    write(source, {"calc.egg-info/PKG-INFO": b"Name: calc\n"})
    write(source, {"web/node_modules/a/index.js": b"", "__pycache__/calc.pyc": b""})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        assert (work / "calc.egg-info/PKG-INFO").exists()
        assert list((work / ".venv").iterdir()) == []
        assert list((work / "web/node_modules").iterdir()) == []
        assert not (work / "__pycache__").exists()
        assert set(checkout.workspace.readable) == {source / ".venv", source / "web/node_modules"}


async def test_an_environment_that_is_tracked_is_a_folder_like_any_other(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {**FILES, "node_modules/own/index.js": b"1\n"})
    write(source, {"node_modules/other/index.js": b"2\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        assert not checkout.workspace.readable
        write(checkout.workspace.folder, {"node_modules/own/index.js": b"3\n"})
        assert [each.path for each in (await checkout.patch()).files] == ["node_modules/own/index.js"]


async def test_a_repository_inside_and_a_submodule_are_copied_and_not_changed(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", {"lib.py": b"1\n"})
    source = repository(tmp_path / "r", FILES)
    git(source, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(source, "commit", "-q", "-m", "sub")
    repository(source / "nested", {"own.py": b"1\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        assert not (work / "sub/.git").exists()
        assert git(work, "status", "--short") == ""
        write(work, {"sub/lib.py": b"2\n", "nested/own.py": b"2\n"})
        patch = await checkout.patch()
        assert patch.content == b""
        assert [each.path for each in patch.left_out] == ["nested", "sub"]


async def test_a_linked_working_tree_and_a_detached_head_are_repositories_too(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    git(source, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    async with checkout_of(tmp_path / "linked", tmp_path / "aside") as checkout:
        assert "a detached HEAD" in checkout.remarks[0]
        (checkout.workspace.folder / "calc.py").write_bytes(b"VALUE = 2\n")
        git(tmp_path / "linked", "apply", stdin=(await checkout.patch()).content)


async def test_plain_folders_and_repositories_without_a_commit_are_snapshots(tmp_path: Path) -> None:
    plain, unborn = tmp_path / "plain", tmp_path / "unborn"
    write(plain, {**FILES, ".env": b"KEY=1\n", ".pytest_cache/x": b""})
    write(unborn, FILES)
    git(unborn, "init", "-q")
    for source in (plain, unborn):
        async with checkout_of(source, tmp_path / "aside") as checkout:
            assert picture(checkout.workspace.folder).keys() == FILES.keys()
            (checkout.workspace.folder / "calc.py").write_bytes(b"VALUE = 2\n")
            git(source, "apply", stdin=(await checkout.patch()).content)
        assert (source / "calc.py").read_bytes() == b"VALUE = 2\n"


async def test_nothing_that_the_repository_names_is_run(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {**FILES, ".gitattributes": b"* filter=e diff=e\n"})
    evil = f"touch {tmp_path}/ran"
    (source / ".git/config").write_text(
        f'[core]\n repositoryformatversion = 0\n fsmonitor = "{evil}"\n sshCommand = "{evil}"\n hooksPath = hooks\n'
        f'[filter "e"]\n clean = "{evil}"\n smudge = "{evil}"\n process = "{evil}"\n required = true\n'
        f'[diff "e"]\n command = "{evil}"\n textconv = "{evil}"\n'
    )
    write(source, {"calc.py": b"VALUE = 3\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        (checkout.workspace.folder / "calc.py").write_bytes(b"VALUE = 4\n")
        assert (await checkout.patch()).content
    assert not (tmp_path / "ran").exists()


async def test_what_cannot_be_copied_is_refused_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    write(tmp_path, {"file": b"", "broken/.git": b"gitdir: nowhere\n"})
    damaged = repository(tmp_path / "damaged", FILES)
    (damaged / ".git/index").write_bytes(b"no index")
    cases = {"missing": "not there", "file": "no folder", "bare": "git clone", "broken": "repair", "damaged": "index"}
    async with running() as run:
        for name, words in cases.items():
            with pytest.raises(UserError, match=words):
                async with open_checkout(Repository(tmp_path / name), tmp_path / "aside", run):
                    pass
            assert not (tmp_path / "aside").exists()
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(UserError, match="git is not installed"):
            async with open_checkout(Repository(tmp_path), tmp_path / "aside", run):
                pass


async def test_the_run_folder_may_lie_inside_the_repository(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    write(source, {".treadle/runs/1/key": b"x"})
    async with checkout_of(source, source / "out/q") as checkout:
        assert picture(checkout.workspace.folder).keys() == FILES.keys()


async def test_what_the_setup_makes_is_there_and_never_in_a_patch(tmp_path: Path) -> None:
    source = Repository(repository(tmp_path / "r", FILES), setup="echo made > made.txt; mkdir dir; echo x > dir/y")
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        assert (work / "made.txt").read_text() == "made\n"
        (work / "made.txt").write_text("changed\n")
        (work / "calc.py").write_bytes(b"VALUE = 2\n")
        patch = await checkout.patch()
        assert [each.path for each in patch.files] == ["calc.py"]
        assert [each.path for each in patch.left_out] == ["made.txt"]
        await checkout.reset()
        assert (work / "made.txt").read_text() == "made\n"
        assert await checkout.patch() == Patch()


async def test_a_setup_that_fails_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    source = Repository(repository(tmp_path / "r", FILES), setup="echo no such package; exit 3")
    with pytest.raises(UserError, match=r"(?s)exit code 3.*--network setup.*no such package"):
        async with checkout_of(source, tmp_path / "aside"):
            pass
    assert not (tmp_path / "aside").exists()


async def test_a_patch_is_tested_on_a_clean_copy(tmp_path: Path) -> None:
    test = "test ! -e left.txt && grep -q 'VALUE = 2' calc.py && touch left.txt && echo fine"
    source = Repository(repository(tmp_path / "r", FILES), test=test)
    async with running() as run, open_checkout(source, tmp_path / "aside", run) as checkout:
        (checkout.workspace.folder / "left.txt").write_text("x")
        for _ in range(2):
            tested = await checkout.test(Patch(FIX), run)
            assert (tested.passed, tested.output, tested.reason) == (True, "fine\n", "")
        assert (await checkout.test(Patch(), run)).reason == "it ended with exit code 1"
        stale = await checkout.test(Patch(FIX.replace(b"-VALUE = 1", b"-VALUE = 7")), run)
        assert not stale.passed
        assert "does not apply" in stale.reason


async def test_a_test_that_never_ends_is_no_pass(tmp_path: Path) -> None:
    source = Repository(repository(tmp_path / "r", FILES), test="sleep 60", test_seconds=0.2)
    async with running() as run, open_checkout(source, tmp_path / "aside", run) as checkout:
        tested = await checkout.test(Patch(FIX), run)
    assert (tested.passed, tested.reason) == (False, "it did not end within 0.2 s")


async def test_a_trial_restores_files_whatever_lies_in_their_way(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {**FILES, "tests/test_a.py": b"a\n", "tests/deep/b.py": b"b\n"})
    outside = tmp_path / "outside"
    write(outside, {"test_a.py": b"mine\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        with pytest.raises(PatchError):
            async with checkout.trial(b"no patch\n"):
                pass
        async with checkout.trial(FIX) as trial:
            folder = trial.workspace.folder
            write(folder, {"tests/new.py": b"new\n"})
            (folder / "tests/deep").rename(folder / "elsewhere")
            (folder / "tests/deep").symlink_to(outside)
            await trial.restore(["tests/new.py", "tests/deep/b.py", "never.py"])
            assert (folder / "tests/deep/b.py").read_bytes() == b"b\n"
            assert not (folder / "tests/new.py").exists()
            assert await trial.apply(FIX) != ""
            with pytest.raises(UserError):
                await trial.restore(["../outside/test_a.py"])
        assert picture(outside) == {"test_a.py": ("-", b"mine\n")}


async def test_patches_do_not_leave_the_copy(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    write(tmp_path, {"victim/x": b"x\n"})
    evil = [
        b"--- /dev/null\n+++ b/../../victim/y\n@@ -0,0 +1 @@\n+y\n",
        b"--- /dev/null\n+++ b/.git/hooks/post-checkout\n@@ -0,0 +1 @@\n+y\n",
        b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+%s\n"
        b"\\ No newline at end of file\ndiff --git a/l/y b/l/y\nnew file mode 100644\n--- /dev/null\n+++ b/l/y\n"
        b"@@ -0,0 +1 @@\n+y\n" % os.fsencode(tmp_path / "victim"),
    ]
    async with checkout_of(source, tmp_path / "aside") as checkout:
        for each in evil:
            with pytest.raises(PatchError):
                async with checkout.trial(each):
                    pass
    assert list((tmp_path / "victim").iterdir()) == [tmp_path / "victim/x"]


async def test_a_cancelled_question_leaves_no_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    source = Repository(repository(tmp_path / "r", FILES), setup=f"echo > {tmp_path}/begun; sleep 60")
    async with running() as run:

        async def work() -> None:
            async with open_checkout(source, tmp_path / "aside", run):
                pass

        task = asyncio.create_task(work())
        await asyncio.to_thread((tmp_path / "begun").read_bytes)
        assert (tmp_path / "aside/clean/calc.py").exists()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not (tmp_path / "aside").exists()


async def test_commands_see_the_copy_in_the_originals_place(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", FILES)
    async with running("auto") as run, open_checkout(Repository(source), tmp_path / "aside", run) as checkout:
        if not run.sandbox.traits.places:
            pytest.skip(f"{run.sandbox.name} shows folders where they are")
        result = await checkout.workspace.shell(
            "pwd; git status --short; echo x > made; git log --oneline | wc -l", run
        )
        assert result.stdout.split() == [str(source), "1"]
        assert [each.path for each in (await checkout.patch()).files] == ["made"]
    assert not (source / "made").exists()
