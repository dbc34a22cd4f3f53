"""A user's git directory and configuration: what of them counts for a copy, and what is never let in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from repositories import checkout_of, git, repository, running, write

from treadle.errors import UserError
from treadle.workspaces.base import Repository
from treadle.workspaces.checkout import open_checkout
from treadle.workspaces.delivery import check_clean, make_branch

FIX = b"--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-1\n+2\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without any configuration."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def stale(file: Path) -> None:
    """Make git read a file before it believes that it is unchanged."""
    os.utime(file, ns=(1, 1))


@pytest.mark.parametrize("where", ["repository", "home"])
async def test_modes_that_git_does_not_track_are_no_changes(tmp_path: Path, home: Path, where: str) -> None:
    source = repository(tmp_path / "r", {"m.py": b"1\n"})
    git(source, "config", "--unset", "core.fileMode")
    target = source / ".git/config" if where == "repository" else home / ".gitconfig"
    with target.open("a") as config:
        config.write("[core]\n\tFILEMODE = False\n")
    (source / "m.py").chmod(0o755)
    await check_clean(source)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        assert not any("uncommitted" in remark for remark in checkout.remarks)
        (checkout.workspace.folder / "m.py").write_bytes(b"2\n")
        patch = await checkout.patch()
    await make_branch(source, "fix", patch.content, "x")
    assert git(source, "diff", "--raw", "main", "fix").split()[:2] == [":100644", "100644"]


async def test_a_mode_that_git_tracks_is_a_change(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"m.py": b"1\n"})
    (source / "m.py").chmod(0o755)
    with pytest.raises(UserError, match="1 tracked file"):
        await check_clean(source)


ENDINGS = {
    "autocrlf": ("[core]\n\tautocrlf = true\n", b"", b""),
    "eol": ("[core]\n\teol = crlf\n", b"* text=auto\n", b""),
    "attributes": ("", b"*.bat text eol=crlf\n", b""),
    "own attributes": ("", b"", b"*.bat text eol=crlf\n"),
}


@pytest.mark.parametrize("kind", ENDINGS)
async def test_line_endings_that_git_converts_are_no_changes_and_are_converted_in_a_branch(
    tmp_path: Path, kind: str
) -> None:
    config, attributes, own = ENDINGS[kind]
    source = repository(tmp_path / "r", {"m.bat": b"a\nb\n", "n.bat": b"a\n", ".gitattributes": attributes})
    with (source / ".git/config").open("a") as file:
        file.write(config)
    write(source, {".git/info/attributes": own})
    for name in ("m.bat", "n.bat"):
        (source / name).unlink()
    git(source, "checkout", "--", ".")
    (source / "n.bat").write_bytes(b"a\n")  # as an editor leaves it; added, it is the same for git
    git(source, "add", "n.bat")
    assert (source / "m.bat").read_bytes() == b"a\r\nb\r\n"
    stale(source / "m.bat")
    stale(source / "n.bat")
    await check_clean(source)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        write(work, {"m.bat": b"a\r\nB\r\n", "n.bat": b"A\n", "new.bat": b"n\r\n"})
        patch = await checkout.patch()
    await make_branch(source, "fix", patch.content, "x")
    shown = {name: git(source, "show", f"fix:{name}") for name in ("m.bat", "n.bat", "new.bat")}
    assert shown == {"m.bat": "a\nB\n", "n.bat": "A\n", "new.bat": "n\n"}
    assert git(source, "diff", "--name-only", "main", "fix") == "m.bat\nn.bat\nnew.bat\n"


async def test_a_branch_takes_moves_modes_links_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    files = {"old name": b"1\n" * 9, "gone": b"x\n", "b.bin": b"\0\1", "d/in": b"x\n", "file": b"x\n", "run": b"#!\n"}
    source = repository(tmp_path / "r", files)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        (work / "old name").rename(work / "n\u00e9w\tname")
        (work / "gone").unlink()
        shutil.rmtree(work / "d")
        (work / "d").symlink_to("run")
        (work / "file").unlink()
        write(work, {"file/inner": b"y\n", "b.bin": b"\0\2\xff"})
        (work / "run").chmod(0o755)
        patch = await checkout.patch()
    await make_branch(source, "fix", patch.content, "x")
    git(tmp_path, "clone", "-q", "-b", "fix", str(source), "cloned")
    cloned = tmp_path / "cloned"
    assert (cloned / "d").readlink() == Path("run")
    assert (cloned / "file/inner").read_bytes() == b"y\n"
    assert (cloned / "b.bin").read_bytes() == b"\0\2\xff"
    assert (cloned / "run").stat().st_mode & 0o100
    assert {each.name for each in cloned.iterdir()} == {".git", "n\u00e9w\tname", "d", "file", "b.bin", "run"}
    assert git(cloned, "status", "--short") == ""


async def test_a_branch_begins_at_the_commit_and_not_at_what_was_changed_since(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"m.py": b"1\n", "n.py": b"1\n"})
    write(source, {"m.py": b"1\n\n\n\nmine\n", "n.py": b"mine\n"})
    await make_branch(source, "fix", FIX, "x")
    assert git(source, "show", "fix:m.py") == "2\n"
    assert git(source, "show", "fix:n.py") == "1\n"
    with pytest.raises(UserError, match="uncommitted changes"):
        await make_branch(source, "other", FIX.replace(b"m.py", b"n.py").replace(b"\n-1", b"\n-mine"), "x")


async def test_a_name_of_no_encoding_is_the_author_s_all_the_same(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"m.py": b"1\n"})
    with (source / ".git/config").open("ab") as config:
        config.write(b"[user]\n\tname = Ren\xe9\n")
    commit = await make_branch(source, "fix", FIX, "x")
    assert git(source, "log", "-1", "--format=%an", commit).startswith("Ren")


@pytest.mark.parametrize("target", ["file", "environ", "folder"])
async def test_no_link_of_a_git_directory_brings_a_file_into_a_copy(tmp_path: Path, target: str) -> None:
    source = repository(tmp_path / "r", {"m.py": b"1\n"})
    info = source / ".git/info"
    shutil.rmtree(info, ignore_errors=True)
    write(tmp_path, {"secrets/exclude": b"TOP SECRET\n"})
    if target == "folder":
        info.symlink_to(tmp_path / "secrets")
    else:
        info.mkdir()
        secret = tmp_path / "secrets/exclude"
        (info / "exclude").symlink_to("/proc/self/environ" if target == "environ" else secret)
    async with running() as run:
        with pytest.raises(UserError, match="is a link"):
            async with open_checkout(Repository(source), tmp_path / "aside", run):
                pass


async def test_of_lists_of_ignored_files_a_copy_has_the_patterns_alone(tmp_path: Path, home: Path) -> None:
    source = repository(tmp_path / "r", {"m.py": b"1\n"})
    write(source, {".git/info/exclude": b"# said to nobody\n*.own\n\nto\0ken=1\n", "a.own": b"", "a.mine": b""})
    write(home, {".config/git/ignore": b"# private\n*.mine\r\n" + b"x" * 5000 + b"\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        assert (checkout.workspace.folder / ".git/info/exclude").read_bytes().split() == [b"*.own", b"*.mine"]
        assert {each.name for each in checkout.workspace.folder.iterdir()} == {".git", "m.py"}


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("name", ["node_modules", "web/node_modules"])
async def test_a_link_is_no_environment_whatever_it_is_called(tmp_path: Path, name: str, versioned: bool) -> None:
    write(tmp_path, {"private/.ssh/id": b"KEY\n"})
    files = {"m.py": b"1\n", ".gitignore": b"node_modules\n", "web/a.js": b""}
    source = tmp_path / "r"
    if versioned:
        repository(source, files)
    else:
        write(source, files)
    (source / name).symlink_to(tmp_path / "private")
    async with checkout_of(source, tmp_path / "aside") as checkout:
        assert checkout.workspace.readable == ()
        assert not any("readable" in remark for remark in checkout.remarks)
        copy = checkout.workspace.folder / name
        assert copy.is_symlink() or not copy.exists()


@pytest.mark.parametrize("sandbox", ["none", "auto"])
async def test_what_commands_may_read_besides_is_said_where_it_is_all_they_may(tmp_path: Path, sandbox: str) -> None:
    write(tmp_path, {"r/m.py": b"1\n", "more/x": b""})
    given = Repository(tmp_path / "r", readable=(tmp_path / "more",))
    async with running(sandbox) as run, open_checkout(given, tmp_path / "aside", run) as checkout:
        said = f"commands may read besides the copy: {tmp_path}/more" in checkout.remarks
        assert said == run.sandbox.traits.isolated
