"""Patches in replies, byte for byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.patches import added_paths, normal_patch, patch_in, patched_paths

PATCH = """\
diff --git a/pkg/a.py b/pkg/a.py
index 1111111..2222222 100644
--- a/pkg/a.py
+++ b/pkg/a.py
@@ -1,3 +1,3 @@ def f():
 one
-two
+zwei
 three
"""
OTHER = PATCH.replace("pkg/a.py", "pkg/b.py")


@pytest.mark.parametrize(
    "reply",
    [
        PATCH,
        f"Here it is:\n\n```diff\n{PATCH}```\nDone.",
        f"~~~~patch\n{PATCH}~~~~\n",
        f"```\n{PATCH}```",
        f"<think>--- a/x\n+++ b/x</think>\nThe change:\n{PATCH}",
        f"```python\nprint(1)\n```\n```diff\n{PATCH}```",
        f"```diff\n{PATCH.replace('zwei', 'deux')}```\nBetter:\n```diff\n{PATCH}```",
        f"```diff\n{PATCH}",
    ],
)
def test_the_patch_of_a_reply(reply: str) -> None:
    assert patch_in(reply) == PATCH


def test_blocks_for_different_files_belong_together() -> None:
    assert patch_in(f"```diff\n{PATCH}```\nand\n```diff\n{OTHER}```\n") == PATCH + OTHER


@pytest.mark.parametrize("reply", ["", "I changed a.py.", "```python\nx = 1\n```", "a --- b\n+++"])
def test_a_reply_without_one(reply: str) -> None:
    assert patch_in(reply) is None


def test_an_empty_block_is_an_empty_patch() -> None:
    assert patch_in("Nothing to do:\n```diff\n\n```\n") == ""


def test_a_last_line_end_is_restored_and_no_other() -> None:
    assert patch_in(PATCH.rstrip("\n")) == PATCH
    blank = PATCH.replace(" three\n", " \n \n")
    assert patch_in(blank) == blank
    assert patch_in(blank.rstrip("\n")) == blank
    assert patch_in(f"```diff\n{blank}```") == blank


def test_carriage_returns_stay() -> None:
    returned = PATCH.replace(" one\n", " one\r\n").replace("two\n", "two\r\n").replace("zwei\n", "zwei\r\n")
    returned = returned.replace(" three\n", " three\r\n")
    assert patch_in(returned) == returned
    assert patch_in(returned.removesuffix("\r\n")) == returned
    assert patch_in(f"```diff\n{returned}```") == returned


def test_fences_inside_a_bare_patch_are_its_text() -> None:
    patch = PATCH.replace("+zwei", "+```python").replace(" three", " ```")
    assert patch_in(patch) == patch


def test_a_patch_that_was_read_applies(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/a.py").write_bytes(b"one\r\ntwo\r\n\r\n")
    hunk = "--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+zwei\r\n \r\n"
    read = patch_in(f"```diff\n{hunk.removesuffix(chr(10))}\n```") or ""
    subprocess.run(["git", "apply", "-"], input=read.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "pkg/a.py").read_bytes() == b"one\r\nzwei\r\n\r\n"


def test_the_files_of_a_patch() -> None:
    moved = "diff --git a/x y.py b/new/x y.py\nsimilarity index 100%\nrename from x y.py\nrename to new/x y.py\n"
    quoted = (
        'diff --git "a/\\303\\244.py" "b/\\303\\244.py"\nnew file mode 100644\n--- /dev/null\n+++ "b/\\303\\244.py"\n'
    )
    assert patched_paths(PATCH + moved + quoted) == {"pkg/a.py", "x y.py", "new/x y.py", "ä.py"}
    assert added_paths(PATCH + moved + quoted) == {"ä.py"}
    assert patched_paths("--- pkg/a.py\t2020-01-01\n+++ pkg/a.py\t2020-01-02\n@@ -1 +1 @@\n-a\n+b\n") == {"pkg/a.py"}


def test_two_patches_are_one_when_they_do_the_same() -> None:
    shifted = PATCH.replace("@@ -1,3 +1,3 @@ def f():", "@@ -7,3 +7,3 @@").replace(
        "1111111..2222222", "1234567..7654321"
    )
    assert normal_patch(PATCH) == normal_patch(shifted)
    assert normal_patch(PATCH + OTHER) == normal_patch(OTHER + PATCH)
    assert normal_patch(PATCH) != normal_patch(PATCH.replace("zwei", "deux"))
    assert normal_patch(PATCH) != normal_patch(OTHER)


@given(st.text(alphabet=st.sampled_from("diff -git+@a/b\n`\r~ x")))
def test_any_text_is_read(text: str) -> None:
    found = patch_in(text)
    assert found is None or found == "" or found.endswith("\n")
    assert isinstance(normal_patch(text), str)
    patched_paths(text)
