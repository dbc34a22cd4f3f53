"""What a worker leaves behind never costs the patch: links, pipes, kinds that change, bytes, masses."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from repositories import checkout_of, git, picture, repository, write

from treadle.workspaces import rules
from treadle.workspaces.base import Patch, Repository

LATIN = b"caf\xe9\n"
LATIN_FIX = b"caf\xe9 au lait\n"


def reasons(patch: Patch) -> dict[str, str]:
    return {each.path: each.reason for each in patch.left_out}


async def test_kinds_that_change_among_bytes_that_are_no_text(tmp_path: Path) -> None:
    files = {"a": b"plain\n", "b": LATIN, "c": LATIN, "z": LATIN, "y": b"plain too\n"}
    source = repository(tmp_path / "r", files)
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        for name in ("a", "c"):
            (work / name).unlink()
            (work / name).symlink_to("b")
        write(work, {"z": LATIN_FIX, "y": b"changed\n"})
        patch = await checkout.patch()
        wanted = picture(work)
    assert patch.text.encode() == patch.content
    assert {each.path: each.binary for each in patch.files} == {"a": False, "c": True, "y": False, "z": True}
    assert b"-plain too" in patch.content
    git(source, "apply", stdin=patch.content)
    assert picture(source) == wanted


async def test_every_patch_of_a_checkout_is_text_and_knows_nothing_of_the_ones_before(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"a": LATIN, "b": LATIN})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        for files, binary in (
            ({"a": LATIN_FIX}, {"a": True}),
            ({"b": LATIN_FIX}, {"a": True, "b": True}),
            ({"a": b"caf\xe9\n", "b": LATIN + b"x\n"}, {"b": True}),
        ):
            write(work, files)
            patch = await checkout.patch()
            assert patch.text.encode() == patch.content
            assert {each.path: each.binary for each in patch.files} == binary
        write(work, {"a": b"text\n", "b": LATIN})
        (work / "a").unlink()
        write(work, {"new": b"plain\n"})
        await checkout.reset()
        write(work, {"new": b"plain\n"})
        assert b"+plain\n" in (await checkout.patch()).content


async def test_a_path_too_long_for_an_attribute_makes_no_patch_that_is_no_text(tmp_path: Path) -> None:
    long = "/".join(["d" * 200] * 11)
    source = repository(tmp_path / "r", {"a": b"x\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        write(checkout.workspace.folder, {f"{long}/new.py": LATIN, "a": b"y\n"})
        patch = await checkout.patch()
    assert patch.text.encode() == patch.content
    git(source, "apply", stdin=patch.content)
    assert (source / long / "new.py").read_bytes() == LATIN


def _untracked_becomes_link(work: Path) -> None:
    shutil.rmtree(work / "notes")
    (work / "notes").symlink_to("/tmp")


def _made_becomes_link(work: Path) -> None:
    shutil.rmtree(work / "made")
    (work / "made").symlink_to("calc.py")


def _list_becomes_pipe(work: Path) -> None:
    os.mkfifo(work / "pkg/.gitignore")
    write(work, {"pkg/new.py": b"new\n"})


def _top_list_becomes_pipe(work: Path) -> None:
    (work / ".gitignore").unlink()
    os.mkfifo(work / ".gitignore")
    os.mkfifo(work / ".gitattributes")


def _list_becomes_link(work: Path) -> None:
    (work / "pkg/.gitignore").symlink_to("/dev/zero")
    write(work, {"pkg/new.py": b"new\n"})


def _list_becomes_folder(work: Path) -> None:
    write(work, {"pkg/.gitignore/x.py": b"x\n"})


def _list_is_endless(work: Path) -> None:
    write(work, {"pkg/.gitignore": b"*a*b*c*d\n" * 2**18, "pkg/" + "abc" * 60: b"x\n"})


def _folder_becomes_link(work: Path) -> None:
    shutil.rmtree(work / "pkg")
    (work / "pkg").symlink_to("/etc")


LEFTOVERS: list[Callable[[Path], None]] = [
    _untracked_becomes_link,
    _made_becomes_link,
    _list_becomes_pipe,
    _top_list_becomes_pipe,
    _list_becomes_link,
    _list_becomes_folder,
    _list_is_endless,
    _folder_becomes_link,
]


@pytest.mark.parametrize("leave", LEFTOVERS, ids=[each.__name__ for each in LEFTOVERS])
async def test_links_and_pipes_in_the_way_cost_no_change(tmp_path: Path, leave: Callable[[Path], None]) -> None:
    source = repository(tmp_path / "r", {"calc.py": b"1\n", "pkg/a.py": b"a\n", ".gitignore": b"*.tmp\n"})
    write(source, {"notes/deep/x.txt": b"mine\n"})
    given = Repository(source, setup="mkdir -p made/lib; echo 1 > made/lib/x")
    async with checkout_of(given, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        leave(work)
        write(work, {"calc.py": b"2\n", "more.py": b"more\n"})
        patch = await checkout.patch()
    assert {"calc.py", "more.py"} <= {each.path for each in patch.files}
    git(source, "apply", stdin=patch.content)
    assert (source / "calc.py").read_bytes() == b"2\n"


async def test_what_the_patch_leaves_alone_is_not_built_upon(tmp_path: Path) -> None:
    files = {"calc.py": b"1\n", "tests/test_a.py": b"a\n", "test_b.py": b"b\n", "src/c.py": b"c\n"}
    source = repository(tmp_path / "r", files)
    write(source, {"notes/x.txt": b"mine\n", "list.txt": b"mine\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        for name in ("notes", "tests", "src"):
            shutil.rmtree(work / name)
            (work / name).symlink_to("calc.py")
        for name in ("list.txt", "test_b.py"):
            (work / name).unlink()
            write(work, {f"{name}/inside": b"x\n"})
        patch = await checkout.patch()
        async with checkout.trial(patch.content) as trial:
            assert (trial.workspace.folder / "src").is_symlink()
    in_the_way = {path for path, reason in reasons(patch).items() if reason == rules.IN_THE_WAY}
    assert in_the_way == {"notes", "tests", "list.txt/inside", "test_b.py/inside"}
    git(source, "apply", stdin=patch.content)


async def test_a_link_to_itself_that_becomes_a_folder_costs_only_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/a").symlink_to("a")
    source = repository(tmp_path / "r", {"calc.py": b"1\n"})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        (checkout.workspace.folder / "a").unlink()
        write(checkout.workspace.folder, {"a/x.py": b"x\n", "calc.py": b"2\n"})
        patch = await checkout.patch()
    assert reasons(patch) == {"a/x.py": rules.IN_THE_WAY}
    git(source, "apply", stdin=patch.content)
    assert picture(source) == {"calc.py": ("-", b"2\n")}


async def test_lists_in_every_folder_say_what_is_ignored(tmp_path: Path) -> None:
    source = repository(tmp_path / "r", {"calc.py": b"1\n", ".gitignore": b"*.tmp\nbuild/\n!keep.tmp\n", "a/x": b""})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        write(
            checkout.workspace.folder,
            {
                "a/.gitignore": b"/own\nsub/*\n!sub/kept\n",
                "a/own": b"",
                "a/b/own": b"",
                "a/sub/dropped": b"",
                "a/sub/kept": b"",
                "a/x.tmp": b"",
                "a/keep.tmp": b"",
                "a/build/deep/y": b"",
                "build": b"a file",
            },
        )
        patch = await checkout.patch()
    paths = {each.path for each in patch.files}
    assert paths == {"a/.gitignore", "a/b/own", "a/sub/kept", "a/keep.tmp", "build"}


async def test_masses_are_left_out_the_largest_new_ones_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treadle.workspaces.patch.MOST_BYTES", 1000)
    moved = {f"assets/{number}.bin": bytes([number]) * 900 for number in range(4)}
    source = repository(tmp_path / "r", {"calc.py": b"1\n", **moved})
    async with checkout_of(source, tmp_path / "aside") as checkout:
        work = checkout.workspace.folder
        (work / "assets").rename(work / "other")
        write(work, {"calc.py": b"2" * 500, "small.py": b"s" * 300, "middle.py": b"m" * 400, "big.py": b"b" * 800})
        patch = await checkout.patch()
    assert reasons(patch) == {"middle.py": rules.TOO_MUCH, "big.py": rules.TOO_MUCH}
    assert {each.path for each in patch.files} == {"calc.py", "small.py", *(f"other/{each}.bin" for each in range(4))}
