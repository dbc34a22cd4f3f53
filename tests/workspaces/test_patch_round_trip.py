"""Whatever a worker does to a tree, its patch does the same to the folder that the copy came from."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from repositories import checkout_of, git, picture, repository

from treadle.workspaces.base import Patch
from treadle.workspaces.copying import remove_tree

Tree = dict[str, tuple[str, bytes]]
NAMES = [
    "a",
    "b.py",
    "with space",
    'quo"te',
    "new\nline",
    "tab\t",
    "ünï",
    os.fsdecode(b"\xff\xfe"),
    "-dash",
    ":(x)",
    "\\",
]
LINES = [
    b"one\n",
    b" \n",
    b"\n",
    b"crlf\r\n",
    b"last without end",
    b"\x00\x01\xff",
    b"caf\xe9\n",
    b"+++ b/a\n",
    b"-- \n",
]
_contents = st.lists(st.sampled_from(LINES), max_size=8).map(b"".join)
_entries = st.one_of(
    st.tuples(st.just("-"), _contents),
    st.tuples(st.just("x"), _contents),
    st.tuples(st.just("link"), st.sampled_from([b"a", b"..", b"/etc", b"loop", b"n\nl"])),
)
_paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)


def _consistent(tree: Tree) -> Tree:
    """Without files that lie below files, and links that lead to themselves."""
    return {
        path: entry
        for path, entry in tree.items()
        if not any(path.startswith(f"{other}/") for other in tree)
        and entry != ("link", os.fsencode(path.split("/")[-1]))
    }


_trees = st.dictionaries(_paths, _entries, max_size=8).map(_consistent)


def _lay_out(folder: Path, tree: Tree) -> None:
    for path, (kind, content) in tree.items():
        at = folder / path
        at.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            at.symlink_to(os.fsdecode(content))
        else:
            at.write_bytes(content)
            at.chmod(0o755 if kind == "x" else 0o644)


def _empty(folder: Path) -> None:
    for each in folder.iterdir():
        if each.name != ".git":
            remove_tree(each)


async def _patch_of(before: Path, after: Tree, aside: Path) -> Patch:
    async with checkout_of(before, aside) as checkout:
        _empty(checkout.workspace.folder)
        _lay_out(checkout.workspace.folder, after)
        return await checkout.patch()


@given(before=_trees, after=_trees, shared=st.booleans())
@example(before={"a": ("-", b"x\n")}, after={"a/b.py": ("-", b"x\n")}, shared=False)
@example(before={"a/b.py": ("-", b"x\n")}, after={"a": ("link", b"..")}, shared=False)
@example(before={"a": ("link", b"..")}, after={"a/b.py": ("-", b"")}, shared=False)
@example(before={"a": ("-", b"")}, after={"a": ("x", b"")}, shared=False)
@example(before={"a": ("link", b"loop")}, after={"a/b.py": ("-", b""), "tab\t": ("link", b"loop")}, shared=False)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_patch_turns_the_original_into_what_the_worker_left(before: Tree, after: Tree, shared: bool) -> None:
    if shared:
        after = _consistent({**dict(list(before.items())[::2]), **after})
    top = Path(tempfile.mkdtemp())
    try:
        original = repository(top / "original", {})
        _lay_out(original, before)
        git(original, "add", "-A")
        git(original, "commit", "-q", "--allow-empty", "-m", "second")
        kept = picture(original)
        patch = asyncio.run(_patch_of(original, after, top / "aside"))
        assert picture(original) == kept
        assert not patch.left_out
        assert patch.text.encode() == patch.content
        _apply(original, patch)
        assert picture(original) == after
        assert {each.path for each in patch.files} <= before.keys() | after.keys()
    finally:
        shutil.rmtree(top)


def _apply(folder: Path, patch: Patch) -> None:
    if patch:
        git(folder, "apply", stdin=patch.content)
