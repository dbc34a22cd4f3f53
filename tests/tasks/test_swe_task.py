"""``swe:``: rows, repositories, and what a workflow sees of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import swe_stage
from swe_stage import FIX, ID, lay_out, make_repository, row, write_rows

from treadle.errors import DatasetError, UnknownNameError, UserError
from treadle.tasks.open import open_task
from treadle.tasks.rows import Row
from treadle.tasks.swe_repositories import Clone, _lay_out  # pyright: ignore[reportPrivateUsage]
from treadle.tasks.swe_rows import directives, django_directives, read_instance
from treadle.tasks.task import Task
from treadle.workspaces.base import Repository


def workspace_of(task: Task) -> Repository:
    workspace = task.problem(task.samples[0]).workspace
    assert isinstance(workspace, Repository)
    return workspace


def test_a_workflow_sees_the_issue_and_the_repository(tmp_path: Path) -> None:
    task = open_task(lay_out(tmp_path), folder=tmp_path)
    problem = task.problem(task.samples[0])
    assert (str(problem), problem.id) == ("add(1, 2) gives -1.\n", ID)
    assert dict(problem.fields) == {"repo": "maker/calc", "version": "1.0", "base_commit": "0" * 40}
    repository = workspace_of(task)
    assert repository.path == tmp_path / "repos" / ID / "repo"
    assert repository.test == ""
    assert task.samples[0].target == FIX
    assert task.runs_code


def test_nothing_that_grades_is_shown(tmp_path: Path) -> None:
    task = open_task(lay_out(tmp_path), folder=tmp_path)
    problem = task.problem(task.samples[0])
    shown = (
        f"{problem} {problem.messages} {problem.fields} {problem.workspace} {problem.answer_format} {problem.examples}"
    )
    assert not [word for word in ("test_add", "test_double", "test_calc", "a + b", "sign") if word in shown]


def test_commands_find_the_interpreter_and_may_read_it(tmp_path: Path) -> None:
    python = tmp_path / "repos" / ID / "venv/bin/python"
    task = open_task(lay_out(tmp_path).partition("&python")[0], folder=tmp_path)
    assert workspace_of(task).env["PATH"].split(":")[0] != str(python.parent)
    python.parent.mkdir(parents=True)
    python.symlink_to("/usr/bin/env")
    (python.parent.parent / "pyvenv.cfg").write_text("home = /usr/bin\n")
    repository = workspace_of(open_task("swe:rows.jsonl?repos=repos", folder=tmp_path))
    assert repository.env["PATH"].split(":")[0] == str(python.parent)
    assert repository.env["VIRTUAL_ENV"] == str(python.parent.parent)
    assert python.parent.parent in repository.readable


def test_hints_are_shown_where_they_are_wanted(tmp_path: Path) -> None:
    task = open_task(lay_out(tmp_path, options="&hints=true"), folder=tmp_path)
    assert task.samples[0].input == "add(1, 2) gives -1.\n\nWhat was said of this issue:\n\nLook at the sign.\n"


def test_the_data_are_the_same_wherever_the_repositories_are(tmp_path: Path) -> None:
    first = open_task(lay_out(tmp_path), folder=tmp_path)
    (tmp_path / "repos").rename(tmp_path / "moved")
    second = open_task("swe:rows.jsonl?repos=moved", folder=tmp_path)
    assert first.hash == second.hash
    assert first.scorer.grounds != second.scorer.grounds  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


@pytest.mark.parametrize("name", ["maker__calc", "maker/calc", "calc", "calc.git"])
def test_a_commit_of_a_clone_is_laid_out_without_history(tmp_path: Path, name: str) -> None:
    clone = tmp_path / "repos" / name
    clone.mkdir(parents=True)
    base = make_repository(clone, {**swe_stage.FILES, ".gitattributes": "*.py ident text eol=crlf export-ignore\n"})
    (clone / "calc.py").write_text("later\n")
    swe_stage.git(clone, "commit", "-qam", "later")
    if name.endswith(".git"):
        swe_stage.git(tmp_path, "clone", "-q", "--bare", str(clone), str(tmp_path / "bare"))
        clone.rename(tmp_path / "gone")
        (tmp_path / "bare").rename(clone)
    write_rows(tmp_path / "rows.jsonl", row(base_commit=base))
    task = open_task("swe:rows.jsonl?repos=repos", folder=tmp_path)
    assert not (tmp_path / ".treadle").exists()
    path = workspace_of(task).path
    assert path.is_relative_to(tmp_path / ".treadle")
    assert (path / "calc.py").read_bytes() == swe_stage.FILES["calc.py"].encode()
    assert swe_stage.git(path, "rev-list", "--all", "--count") == "1"
    assert swe_stage.git(path, "status", "--porcelain") == ""
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert workspace_of(task).path == path


async def test_two_that_lay_out_the_same_commit_at_once_both_have_it(tmp_path: Path) -> None:
    base = make_repository(tmp_path / "clone", swe_stage.FILES)
    clone = Clone(tmp_path / "clone" / ".git" / "objects", base, tmp_path / "laid" / "out")
    await asyncio.gather(*(_lay_out(clone) for _ in range(3)))
    assert sorted(path.name for path in (tmp_path / "laid").iterdir()) == ["out"]
    assert (tmp_path / "laid" / "out" / "calc.py").is_file()


def test_a_clone_that_lacks_the_commit_is_refused(tmp_path: Path) -> None:
    make_repository(tmp_path / "repos/calc")
    write_rows(tmp_path / "rows.jsonl", row())
    with pytest.raises(UserError, match=rf"lacks 1 of the commits, the first 000000000000 of {ID}"):
        open_task("swe:rows.jsonl?repos=repos", folder=tmp_path)


def test_a_folder_of_files_is_read_as_one(tmp_path: Path) -> None:
    lay_out(tmp_path)
    make_repository(tmp_path / "repos/maker__calc-2/repo")
    (tmp_path / "rows").mkdir()
    write_rows(tmp_path / "rows/b.jsonl", row())
    (tmp_path / "rows/a.json").write_text(json.dumps([row(instance_id="maker__calc-2")]))
    task = open_task("swe:rows?repos=repos", folder=tmp_path)
    assert [sample.id for sample in task.samples] == ["maker__calc-2", ID]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"test_patch": None}, "no field 'test_patch'"),
        ({"patch": ""}, "the field 'patch' is empty"),
        ({"FAIL_TO_PASS": "[]"}, "names no test"),
        ({"FAIL_TO_PASS": "test_add"}, "a list of names"),
        ({"PASS_TO_PASS": [1]}, "a list of names"),
        ({"instance_id": "../x"}, "letters, digits"),
        ({"repo": "calc"}, "owner/name"),
        ({"base_commit": "main"}, "full hash"),
        ({"test_patch": "diff --git a/x.md b/x.md\n"}, "no test file"),
        ({"problem_statement": 3}, "must be text, not a number"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    name = lay_out(tmp_path)
    write_rows(tmp_path / "rows.jsonl", row(), row(**{"instance_id": "maker__calc-2", **changed}))
    with pytest.raises(DatasetError, match=said) as caught:
        open_task(name, folder=tmp_path)
    assert "line 2" in str(caught.value)


def test_the_same_instance_twice_is_refused(tmp_path: Path) -> None:
    name = lay_out(tmp_path)
    write_rows(tmp_path / "rows.jsonl", row(), row())
    with pytest.raises(DatasetError, match="stands on lines 1 and 2"):
        open_task(name, folder=tmp_path)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("swe:rows.jsonl", UserError, "repos is missing"),
        ("swe:rows.jsonl?repos=nowhere", UserError, "no repository for maker__calc-1"),
        ("swe:rows.jsonl?repos=repos&pyhton=x", UnknownNameError, "did you mean python"),
        ("swe:rows.jsonl?repos=repos&python=no-such-python", UserError, "no such interpreter"),
        ("swe:rows.jsonl?repos=repos&style=junit", UserError, "must be one of pytest, django, sympy"),
        ("swe:rows.jsonl?repos=repos&network=yes", UserError, "must be one of off, setup, on"),
        ("swe:rows.jsonl?repos=repos&place=x", UserError, "absolute path"),
        ("swe:rows.jsonl?repos=repos&seconds=0", UserError, "above 0"),
        ("swe:repos?repos=repos", DatasetError, "no file in this folder"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(tmp_path: Path, name: str, error: type[Exception], said: str) -> None:
    lay_out(tmp_path)
    with pytest.raises(error, match=said):
        open_task(name, folder=tmp_path)


def test_the_test_files_are_those_of_the_rule() -> None:
    patch = "".join(f"diff --git a/{name} b/{name}\n" for name in ("tests/a/test_x.py", "tests/x.json", "docs/y.txt"))
    assert directives(patch) == ("tests/a/test_x.py",)
    assert django_directives(directives(patch)) == ("a.test_x",)
    assert read_instance(Row(row(test_files=["tests/other.py"]), 1, "rows")).test_files == ("tests/other.py",)
