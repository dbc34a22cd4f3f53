"""Tasks whose answers are programs: what a workflow sees of them, and what it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from treadle.errors import DatasetError, UnknownNameError, UserError
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.base import Sample
from treadle.tasks.joined import join_tasks
from treadle.tasks.open import open_task
from treadle.tasks.task import Task

HEADER = '''\
import math


def half(x):
    return x / 2


def third(x: float):
    """A third.
    >>> third(9)
    3.0
    >>> third(half(6))
    1.0
    """
'''
HUMANEVAL: dict[str, Any] = {
    "task_id": "HumanEval/x",
    "prompt": HEADER,
    "entry_point": "third",
    "canonical_solution": "    return x / 3\n",
    "test": "def check(candidate):\n    assert candidate(27) == 9\n",
}
MBPP: dict[str, Any] = {
    "task_id": 11,
    "text": "Write a function to add.",
    "code": "def helper(a):\n    return a\n\ndef add(a, b):\n    return helper(a) + b",
    "test_setup_code": "",
    "test_list": ["assert set([add(1, 2)]) == {3}", "assert add(2, 2) == 4"],
    "challenge_test_list": ["assert add(-1, 1) == 0"],
}
QUIXBUGS: dict[str, Any] = {
    "id": "q",
    "name": "plus",
    "buggy": 'def plus(a, b):\n    return a - b\n\n"""\nExamples:\n    >>> plus(1, 2)\n    3\n"""\n',
    "correct": "def plus(a, b):\n    return a + b\n",
    "test": (
        "import pytest\nimport json, pathlib\n\nfrom plus import plus\n\n"
        'testdata = json.loads((pathlib.Path(__file__).parent / "cases.json").read_text())\n\n'
        '@pytest.mark.parametrize("given,expected", testdata)\n'
        "def test_plus(given, expected):\n    assert plus(*given) == expected\n"
    ),
    "cases": [[[1, 2], 3], [[2, -2], 0]],
    "buggy_result": {"passed": 1, "failed": 1},
    "uses_node": True,
}
PROGRAM: dict[str, Any] = {
    "id": "p",
    "prompt": "Write `add(a, b)`.",
    "entry_point": "add",
    "tests": ["assert add(2, 2) == 4", "assert add(ZERO, 0) == 0"],
    "public_tests": ["assert add(1, 1) == 2"],
    "setup": "ZERO = 0",
    "solution": "def add(a, b):\n    return a + b\n",
    "level": 3,
}


def opened(folder: Path, kind: str, *rows: dict[str, Any], options: str = "") -> Task:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_task(f"{kind}:rows.jsonl{options}", folder=folder)


def hidden_of(sample: Sample) -> CodeTests:
    return sample.hidden["tests"]


def seen(task: Task, sample: Sample) -> str:
    """All that a workflow can reach."""
    problem = task.problem(sample)
    return json.dumps([problem, problem.fields, problem.public_tests, problem.answer_format, list(problem.examples)])


def test_a_function_to_complete(tmp_path: Path) -> None:
    task = opened(tmp_path, "humaneval", HUMANEVAL)
    (sample,) = task.samples
    problem = task.problem(sample)
    assert (sample.id, problem.entry_point) == ("HumanEval/x", "third")
    assert problem.public_tests == ("assert third(9) == 3.0", "assert third(half(6)) == 1.0")
    assert HUMANEVAL["prompt"] in problem
    assert problem.fields["header"] == HUMANEVAL["prompt"]
    assert "def half" in problem.fields["setup"]
    assert "third" not in problem.fields["setup"]
    assert hidden_of(sample).check == "check"
    assert hidden_of(sample).entry_points == ("third",)
    assert sample.target == HUMANEVAL["prompt"] + HUMANEVAL["canonical_solution"]
    assert "27" not in seen(task, sample)
    assert "x / 3" not in seen(task, sample)


def test_a_sentence_that_asks_for_a_function(tmp_path: Path) -> None:
    task = opened(tmp_path, "mbpp", MBPP)
    (sample,) = task.samples
    assert (sample.id, sample.entry_point) == ("11", "add")
    assert sample.public_tests == ("assert set([add(1, 2)]) == {3}",)
    assert sample.input.startswith("Write a function to add.")
    assert sample.public_tests[0] in sample.input
    assert "others that are not shown" in sample.input
    assert hidden_of(sample).tests == tuple(MBPP["test_list"])
    assert "add(2, 2)" not in seen(task, sample)
    assert "helper" not in seen(task, sample)
    assert "add(-1, 1)" not in seen(task, sample)


def test_how_many_assertions_are_public_can_be_said(tmp_path: Path) -> None:
    none = opened(tmp_path, "mbpp", MBPP, options="?public=0").samples[0]
    assert none.public_tests == ()
    assert "`add(a, b)`" in none.input
    every = opened(tmp_path, "mbpp", MBPP, options="?public=9&challenge=yes").samples[0]
    assert every.public_tests == hidden_of(every).tests
    assert len(every.public_tests) == 3
    assert "not shown" not in every.input
    with pytest.raises(UserError, match="whole number from 0 up"):
        opened(tmp_path, "mbpp", MBPP, options="?public=-1")


def test_imports_of_tests_are_their_setup(tmp_path: Path) -> None:
    row = {**MBPP, "id": "m", "test_imports": ["import math"], "test_setup_code": "one = 1"}
    (sample,) = opened(tmp_path, "mbpp", row).samples
    assert sample.id == "m"
    assert hidden_of(sample).setup == sample.fields["setup"] == "import math\none = 1"


def test_a_program_to_repair(tmp_path: Path) -> None:
    task = opened(tmp_path, "quixbugs", QUIXBUGS)
    (sample,) = task.samples
    assert (sample.id, sample.entry_point) == ("q", "plus")
    assert sample.public_tests == ("assert plus(1, 2) == 3",)
    assert QUIXBUGS["buggy"].strip() in sample.input
    assert list(sample.fields["modules"]) == ["node"]
    tests = hidden_of(sample)
    assert (tests.framework, tests.module) == ("pytest", "plus")
    assert "cases.json" not in tests.tests[0]
    assert "[[1, 2], 3], [[2, -2], 0]" in tests.tests[0]
    assert "[2, -2]" not in seen(task, sample)
    assert "a + b" not in seen(task, sample)
    assert "buggy_result" not in seen(task, sample)


def test_ones_own_questions(tmp_path: Path) -> None:
    task = opened(tmp_path, "program", PROGRAM)
    (sample,) = task.samples
    assert (sample.id, sample.entry_point, sample.fields) == ("p", "add", {"setup": "ZERO = 0"})
    assert sample.public_tests == ("assert add(1, 1) == 2",)
    assert hidden_of(sample).tests == (*PROGRAM["public_tests"], *PROGRAM["tests"])
    assert "assert add(1, 1) == 2" in sample.input
    assert "add(2, 2)" not in seen(task, sample)
    assert "a + b" not in seen(task, sample)


def test_ones_own_field_names(tmp_path: Path) -> None:
    row = {
        "key": 1,
        "ask": "Do it.",
        "f": "add",
        "checks": "assert add(2, 2) == 4",
        "mine": "def add(a, b): return a + b",
    }
    options = "?id=key&input=ask&entry_point=f&tests=checks&target=mine&seconds=2"
    task = opened(tmp_path, "program", row, options=options)
    (sample,) = task.samples
    assert (sample.id, sample.target, hidden_of(sample).tests) == ("1", row["mine"], (row["checks"],))
    assert "`add`" in sample.input
    assert sample.fields == {}
    assert task.scorer.name == "tests?seconds=2"


def test_tests_that_are_a_function_or_a_pytest_file(tmp_path: Path) -> None:
    check = "def check(candidate):\n    assert candidate(2, 2) == 4\n"
    (sample,) = opened(tmp_path, "program", {**PROGRAM, "tests": check}).samples
    assert hidden_of(sample).check == "check"
    assert hidden_of(sample).tests == (f"assert add(1, 1) == 2\n{check}",)
    text = "from sums import add\n\ndef test_add():\n    assert add(2, 2) == 4\n"
    (sample,) = opened(
        tmp_path, "program", {**PROGRAM, "tests": [text]}, options="?framework=pytest&module=sums"
    ).samples
    assert (hidden_of(sample).framework, hidden_of(sample).module, hidden_of(sample).tests) == (
        "pytest",
        "sums",
        (text,),
    )


@pytest.mark.parametrize(
    ("kind", "row", "change", "words"),
    [
        ("humaneval", HUMANEVAL, {"entry_point": "a b"}, "name of a function"),
        ("humaneval", HUMANEVAL, {"entry_point": "def"}, "name of a function"),
        ("program", PROGRAM, {"entry_point": "None"}, "name of a function"),
        ("humaneval", HUMANEVAL, {"test": "assert third(1)"}, r"check\(candidate\)"),
        ("humaneval", HUMANEVAL, {"prompt": None}, "is null"),
        ("mbpp", MBPP, {"test_list": []}, "holds no test"),
        ("mbpp", MBPP, {"test_list": ["assert add(1, 2"]}, "is not Python"),
        ("mbpp", MBPP, {"test_list": ["assert plus(1, 2) == 3"]}, "no function of 'code' is called"),
        ("mbpp", MBPP, {"test_list": 3}, "list of texts"),
        ("quixbugs", QUIXBUGS, {"cases": None}, "the row has no cases"),
        ("quixbugs", QUIXBUGS, {"test": "def ("}, "not Python"),
        ("program", PROGRAM, {"tests": ["def test_add():\n    assert add(1, 1) == 2"]}, "no program could fail it"),
        ("program", PROGRAM, {"public_tests": [1]}, "list of texts"),
        ("program", PROGRAM, {"prompt": " "}, "is empty"),
        ("program", PROGRAM, {"setup": "import ("}, "must be Python"),
        ("program", PROGRAM, {"solution": 3}, "text of a program"),
    ],
)
def test_bad_rows_are_refused_by_file_and_line(
    tmp_path: Path, kind: str, row: dict[str, Any], change: dict[str, Any], words: str
) -> None:
    key = next(name for name in ("id", "task_id") if name in row)
    with pytest.raises(DatasetError, match=words) as caught:
        opened(tmp_path, kind, row, {**row, key: "other", **change})
    assert "rows.jsonl, line 2" in str(caught.value)


@pytest.mark.parametrize(("wrong", "right"), [("public_test", "public_tests"), ("solutions", "solution")])
def test_a_field_that_is_misspelt_is_not_missed_without_a_word(tmp_path: Path, wrong: str, right: str) -> None:
    row = {name: value for name, value in PROGRAM.items() if name not in ("public_tests", "solution")}
    with pytest.raises(DatasetError, match=f"{wrong}' is not used; did you mean '{right}'"):
        opened(tmp_path, "program", {**row, wrong: "def f(): pass"})


def test_unknown_options_and_limits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean public"):
        opened(tmp_path, "mbpp", MBPP, options="?publc=1")
    with pytest.raises(UserError, match="above 0"):
        opened(tmp_path, "mbpp", MBPP, options="?seconds=0")
    with pytest.raises(UserError, match="belongs to framework=pytest"):
        opened(tmp_path, "program", PROGRAM, options="?module=sums")


def test_a_task_with_programs_says_that_it_runs_them(tmp_path: Path) -> None:
    code = opened(tmp_path, "program", PROGRAM)
    (tmp_path / "text.jsonl").write_text('{"input": "x", "target": "y"}\n')
    text = open_task("jsonl:text.jsonl", folder=tmp_path)
    assert code.runs_code
    assert not text.runs_code
    assert join_tasks([code, text]).runs_code
    assert not join_tasks([text, text]).runs_code


@pytest.mark.shared
def test_the_public_sets_open_and_hide_their_tests(shared_data: Path) -> None:
    sizes = {"humaneval": (100, 89), "mbpp": (200, 200), "quixbugs": (20, 13)}
    for kind, (size, with_public) in sizes.items():
        task = open_task(f"{kind}:{kind}/{kind}.jsonl", folder=shared_data)
        assert len(task.samples) == size
        assert sum(bool(sample.public_tests) for sample in task.samples) == with_public
        for sample in task.samples:
            shown = seen(task, sample)
            assert str(sample.entry_point) in shown
            assert all(
                json.dumps(test)[1:-1] not in shown
                for test in hidden_of(sample).tests
                if test not in sample.public_tests
            )
            assert not {"test", "test_list", "code", "canonical_solution", "correct", "cases"} & set(sample.fields)


def test_names_that_only_the_setup_takes_from_the_program_are_known(tmp_path: Path) -> None:
    code = "class Node:\n    def __init__(self, at): self.at = at\n\nlimit = 9\n\ndef value(node): return node.at\n"
    trees = {
        "id": 1,
        "text": "The value.",
        "code": code,
        "test_list": ["assert value(root) == 3", "assert value(root)"],
    }
    setup = "import math\nlimit = 3\nroot = Node(limit)"
    (sample,) = opened(tmp_path, "mbpp", {**trees, "test_setup_code": setup}).samples
    assert sample.entry_point == "value"
    assert hidden_of(sample).entry_points == ("value", "Node")
    assert "root = Node(limit)" in sample.input
    own = {"id": 1, "prompt": "The value.", "entry_point": "value", "tests": trees["test_list"], "setup": setup}
    (sample,) = opened(tmp_path, "program", own).samples
    assert hidden_of(sample).entry_points == ("value", "Node")
    starred = {**own, "setup": f"from nodes import *\n{setup}"}
    assert hidden_of(opened(tmp_path, "program", starred).samples[0]).entry_points == ("value",)


def test_what_is_called_goes_before_what_is_only_named(tmp_path: Path) -> None:
    code = "def triple(n):\n    return 3 * n\n\ndef twice(f, n):\n    return f(f(n))\n"
    row = {"id": 1, "text": "Twice.", "code": code, "test_list": ["assert twice(triple, 1) == 9"]}
    (sample,) = opened(tmp_path, "mbpp", row).samples
    assert hidden_of(sample).entry_points == ("twice", "triple")


@pytest.mark.parametrize(
    "tests",
    [
        "def check(candidate): pass",
        "def check(candidate):\n    assert True",
        "def check(candidate):\n    candidate(1, 2)",
        ["assert True"],
        ["assert 1 == 1"],
        ["assert len('ab') == 2"],
        ["add(1, 2)"],
        ["import math"],
        ["assert add(1, 2) == 3", "assert True"],
    ],
)
def test_tests_that_no_program_could_fail_are_refused(tmp_path: Path, tests: Any) -> None:
    row = {key: value for key, value in PROGRAM.items() if key != "public_tests"}
    with pytest.raises(DatasetError, match="no program could fail"):
        opened(tmp_path, "program", {**row, "tests": tests})


@pytest.mark.parametrize(
    "test",
    [
        "def check(f):\n    assert f(1, 2) == 3",
        "def same(f): assert f(1, 2) == 3\n\ndef check(candidate):\n    same(candidate)",
        "if add(1, 2) != 3:\n    raise ValueError",
        "numpy.testing.assert_allclose(add(1, 2), 3)",
        "for a in range(3): assert add(a, 1) == a + 1",
    ],
)
def test_tests_that_can_fail_are_taken(tmp_path: Path, test: str) -> None:
    (sample,) = opened(tmp_path, "program", {**PROGRAM, "tests": [test]}).samples
    assert test in hidden_of(sample).tests[-1]


def test_imports_before_the_tests_of_a_list_are_their_setup(tmp_path: Path) -> None:
    tests = ["import math", "from cmath import isclose", "assert math.isclose(add(1, 2), 3)"]
    row = {**PROGRAM, "public_tests": ["import math", "assert math.floor(add(1, 1)) == 2"], "tests": tests}
    (sample,) = opened(tmp_path, "program", row).samples
    assert sample.public_tests == ("assert math.floor(add(1, 1)) == 2",)
    assert hidden_of(sample).tests == (*sample.public_tests, tests[-1])
    assert hidden_of(sample).setup == sample.fields["setup"] == "ZERO = 0\nimport math\nfrom cmath import isclose"


@pytest.mark.parametrize(("kind", "row"), [("humaneval", HUMANEVAL), ("mbpp", MBPP), ("program", PROGRAM)])
def test_further_fields_are_seen_only_where_they_are_named(tmp_path: Path, kind: str, row: dict[str, Any]) -> None:
    more = {"base_input": [[1]], "contract": "assert x", "checks": ["assert f(7)"], "cases": [[8, 8]], "topic": "sums"}
    grading = {*more, "level"}
    (sample,) = opened(tmp_path, kind, {**row, **more}).samples
    assert not grading & set(sample.fields)
    task = opened(tmp_path, kind, {**row, **more}, options="?fields=topic,cases")
    assert grading & set(task.samples[0].fields) == {"topic", "cases"}
    with pytest.raises(UserError, match="fields names 'colour'"):
        opened(tmp_path, kind, row, options="?fields=colour")
    for name in {"tests", "test", "test_list", "code", "solution", "canonical_solution", "prompt"} & set(row):
        with pytest.raises(UserError, match="grades, or gives the answer away"):
            opened(tmp_path, kind, row, options=f"?fields={name}")
