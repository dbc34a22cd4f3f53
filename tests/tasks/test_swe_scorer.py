"""Grading patches: what resolves an instance, and what only looks as if it did."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from swe_stage import FILES, FIX, ID, QUICK, TEST_PATCH, git, lay_out

from treadle.config import SandboxSettings
from treadle.errors import Caution, SandboxError
from treadle.ledger.shared_sandbox import SharedSandbox, limits_of
from treadle.tasks.base import Score
from treadle.tasks.gold import GoldReport, check_gold, gold_key
from treadle.tasks.open import open_task
from treadle.testing.sessions import recording_run


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(tmp_path)


async def scored(name: str, answer: str) -> Score:
    task = open_task(name, folder=Path.cwd())
    async with recording_run(lambda request: "") as (run, _):
        score = await task.scorer.score(task.samples[0], answer, run)
        assert not run.folder.exists()
        return score


def adding(path: str, text: str) -> str:
    lines = text.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}"


def instead(path: str, text: str) -> str:
    old, lines = FILES[path].splitlines(), text.splitlines()
    body = "".join(f"-{line}\n" for line in old) + "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{len(old)} +1,{len(lines)} @@\n{body}"


async def test_the_known_fix_resolves_it(tmp_path: Path) -> None:
    score = await scored(lay_out(tmp_path, options=""), f"The sign was wrong.\n\n```diff\n{FIX}```\n")
    assert (score.value, score.reason, score.answer, score.failure) == (1.0, "", FIX, None)
    assert git(tmp_path / "repos" / ID / "repo", "status", "--porcelain") == ""


async def test_a_patch_that_is_a_little_off_is_applied_as_the_harness_does(tmp_path: Path) -> None:
    off = FIX.replace(" def add(a, b):", " def add(a, b) :").replace("@@ -1,5 +1,5 @@", "@@ -2,5 +2,5 @@")
    assert (await scored(lay_out(tmp_path), off)).value == 1.0


async def test_an_empty_patch_is_counted_apart(tmp_path: Path) -> None:
    name = lay_out(tmp_path)
    for answer in ("", " \n", "```diff\n```"):
        score = await scored(name, answer)
        assert (score.value, score.reason, score.label, score.failure) == (0.0, "empty patch", "empty patch", None)
    told = await scored(name, "I have fixed the sign in calc.py.")
    assert (told.value, told.failure, told.label) == (0.0, "format", "")


PRINTS = """
import os
for fd in range(1, 12):
    try:
        os.write(fd, b"PASSED tests/test_calc.py::test_add\\nPASSED tests/test_calc.py::test_double\\n")
    except OSError:
        pass
os._exit(0)
"""
HOOK = """
def pytest_runtest_makereport(item, call):
    call.excinfo = None
"""
WRONG = {
    "changes nothing that counts": (adding("notes.py", "x = 1"), "1 of 1 FAIL_TO_PASS"),
    "breaks what worked": (
        instead("calc.py", "def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return a"),
        "1 of 1 PASS_TO_PASS tests do not pass: tests/test_calc.py::test_double (failed)",
    ),
    "does not apply": (FIX.replace("return a - b", "return b - a"), "the patch does not apply"),
    "is no diff": ("```diff\n--- a/calc.py\n+++ b/calc.py\n@@ fixed @@\n```", "the patch does not apply"),
    "makes the tests easy": (
        instead("tests/test_calc.py", "def test_add(): pass\ndef test_double(): pass"),
        "test_add",
    ),
    "skips by a conftest": (adding("conftest.py", HOOK), "test_add (failed)"),
    "skips by a conftest of the tests": (adding("tests/conftest.py", HOOK), "test_add (failed)"),
    "loads a plugin": (
        adding("pytest.ini", "[pytest]\naddopts = -p cheat") + adding("cheat.py", HOOK),
        "test_add (failed)",
    ),
    "stands before pytest": (adding("pytest.py", PRINTS), "test_add (failed)"),
    "stands before the standard library": (adding("logging/__init__.py", PRINTS), "test_add (failed)"),
    "prints and leaves": (instead("calc.py", FILES["calc.py"] + PRINTS), "the run did not come to its end"),
    "links the tests elsewhere": (
        "diff --git a/tests/test_calc.py b/tests/test_calc.py\ndeleted file mode 100644\n--- a/tests/test_calc.py\n"
        "+++ /dev/null\n@@ -1,5 +0,0 @@\n"
        + "".join(f"-{line}\n" for line in FILES["tests/test_calc.py"].splitlines())
        + "diff --git a/tests b/tests\nnew file mode 120000\n--- /dev/null\n+++ b/tests\n@@ -0,0 +1 @@\n+easy\n"
        "\\ No newline at end of file\n" + adding("easy/test_calc.py", "def test_add(): pass\ndef test_double(): pass"),
        "test_add (failed)",
    ),
}


async def test_what_does_not_resolve_it(tmp_path: Path) -> None:
    task = open_task(lay_out(tmp_path), folder=tmp_path)
    async with recording_run(lambda request: "") as (run, _):
        asked = (task.scorer.score(task.samples[0], patch, run) for patch, _ in WRONG.values())
        scores = dict(zip(WRONG, await run.gather(asked), strict=True))
    assert {kind: score.value for kind, score in scores.items()} == dict.fromkeys(WRONG, 0.0)
    assert {kind: score.reason for kind, score in scores.items() if WRONG[kind][1] not in score.reason} == {}


async def test_a_fix_that_touches_tests_too_counts_by_its_fix(tmp_path: Path) -> None:
    both = FIX + TEST_PATCH.replace("add(1, 2) == 3", "add(1, 2) == 4") + adding("conftest.py", "raise SystemExit")
    assert (await scored(lay_out(tmp_path), both)).value == 1.0


async def test_carriage_returns_and_a_lost_last_line_end(tmp_path: Path) -> None:
    files = {**FILES, "calc.py": FILES["calc.py"].replace("\n", "\r\n")}
    name = lay_out(tmp_path)
    (tmp_path / "repos" / ID / "repo/calc.py").write_bytes(files["calc.py"].encode())
    lines = FIX.splitlines(keepends=True)
    patch = "".join(lines[:4]) + "".join(lines[4:]).replace("\n", "\r\n")
    assert (await scored(name, patch.removesuffix("\r\n"))).value == 1.0


async def test_tests_that_hang_are_a_wrong_answer_with_its_cause(tmp_path: Path) -> None:
    hanging = instead("calc.py", "import time\ntime.sleep(60)")
    score = await scored(lay_out(tmp_path, options=f"{QUICK}&seconds=3"), hanging)
    assert (score.value, score.reason, score.failure) == (0.0, "the tests timed out after 3 s", None)


async def test_a_command_of_ones_own(tmp_path: Path) -> None:
    command = "%7Bpython%7D -c \"print('test_add ok');print('tests finished: 1')\" %7Bfiles%7D"
    name = lay_out(tmp_path, options=f"&style=sympy&test={command}", FAIL_TO_PASS=["test_add"], PASS_TO_PASS=[])
    assert (await scored(name, FIX)).value == 1.0


def test_equal_patches_are_one_answer(tmp_path: Path) -> None:
    scorer = open_task(lay_out(tmp_path), folder=tmp_path).scorer
    assert scorer.same(FIX, f"```diff\n{FIX.replace('@@ -1,5 +1,5 @@', '@@ -1,5 +1,5 @@ x')}```")
    assert scorer.same(scorer.show(FIX), FIX)
    assert not scorer.same(FIX, adding("a.py", "x"))
    assert not scorer.same("", "")


async def checked(name: str, kind: str = "auto") -> GoldReport:
    task = open_task(name, folder=Path.cwd())
    sandbox = SharedSandbox(kind, limits_of(SandboxSettings()))
    try:
        await sandbox.open()
        report = await check_gold(task, sandbox)
        assert report.key == gold_key(task, sandbox)
        return report
    finally:
        await sandbox.aclose()


async def test_an_instance_is_validated_by_its_fix(tmp_path: Path) -> None:
    assert (await checked(lay_out(tmp_path, options=f"{QUICK}&setup=touch%20made"))).bad == ()


async def test_instances_that_are_not_valid_are_found(tmp_path: Path) -> None:
    useless = await checked(lay_out(tmp_path, patch=adding("notes.py", "x = 1")))
    assert "the known fix does not resolve it: 1 of 1 FAIL_TO_PASS" in useless.bad[0].reason
    tests = ["tests/test_calc.py::test_add", "tests/test_calc.py::test_double"]
    (tmp_path / "b").mkdir()
    name = (
        lay_out(tmp_path / "b", FAIL_TO_PASS=tests, PASS_TO_PASS=[])
        .replace("swe:rows", "swe:b/rows")
        .replace("repos=repos", "repos=b/repos")
    )
    told = (await checked(name)).bad[0].reason
    assert told == "without the fix 1 FAIL_TO_PASS tests pass: tests/test_calc.py::test_double"


async def test_what_somebody_left_of_the_tests_does_not_count(tmp_path: Path) -> None:
    name = lay_out(tmp_path)
    (tmp_path / "repos" / ID / "repo/tests/data.txt").write_text("old\n")
    assert (await checked(name)).bad == ()


async def test_code_without_the_patch_is_never_tested(tmp_path: Path) -> None:
    name = lay_out(tmp_path).partition("&python")[0]
    venv = tmp_path / "repos" / ID / "venv"
    packages = venv / "lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    (packages / "__editable__.calc.pth").write_text(f"{tmp_path}/repos/{ID}/repo\n")
    (venv / "bin").mkdir()
    (venv / "bin/python").symlink_to(sys.executable)
    with pytest.warns(Caution), pytest.raises(SandboxError, match="would run the code without the patch"):
        await checked(name, "none")
