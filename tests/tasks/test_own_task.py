"""Tasks that a user wrote as a function."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import pytest

from treadle.errors import DatasetError, UnknownNameError, UserError
from treadle.ledger.run import Run
from treadle.tasks.decorator import task
from treadle.tasks.open import as_task, open_task
from treadle.tasks.scorers.custom import UserScorer

NO_RUN = cast(Run, None)

MODULE = """
from treadle.tasks.base import Sample
from treadle.tasks.decorator import task
from treadle.tasks.scorers.custom import scorer
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.task import Task

@task(scorer="numeric?tolerance=0.5", name="my sums")
def sums(size: int = 3, offset=0.0, loud: bool = False):
    return [{"input": f"{n}+1?" + "!" * loud, "target": n + 1 + offset} for n in range(size)]

@scorer
def longer(sample, answer):
    return len(answer) > sample.target

@task(scorer=longer)
def lengths():
    return [{"input": "Say much", "target": 3}]

def plain():
    yield {"input": "a?", "target": "a", "id": "x"}
    yield {"input": "b?", "target": "b", "id": "y"}

def samples():
    return [Sample("s", "a?", "a")]

ready = Task("ready", (Sample("s", "a?", "a"),), ExactScorer())

def needs(size: int):
    return [{"input": "a", "target": "a"}] * size

def double():
    return [{"id": "q", "input": "a", "target": "a"}, {"id": "q", "input": "b", "target": "b"}]

def broken():
    raise RuntimeError("no data today")

def nan():
    return [{"input": "a", "target": float("nan")}]

def text():
    return "rows"

def mixed():
    return [{"input": "a", "target": "a"}, 3]

number = 5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    (tmp_path / f"own_{tmp_path.name}.py").write_text(MODULE)
    return tmp_path


def opened(folder: Path, rest: str) -> Any:
    return open_task(f"own_{folder.name}:{rest}", folder=folder)


async def test_a_decorated_function_brings_its_scorer_name_and_options(folder: Path) -> None:
    sums = opened(folder, "sums?size=5&offset=0.25&loud=true")
    assert sums.name == "my sums"
    assert [sample.target for sample in sums.samples] == [1.25, 2.25, 3.25, 4.25, 5.25]
    assert sums.samples[0].input == "0+1?!"
    assert (await sums.scorer.score(sums.samples[0], "Answer: 1.7", NO_RUN)).value == 1
    assert len(opened(folder, "sums").samples) == 3


async def test_a_users_scorer_grades_a_users_task(folder: Path) -> None:
    lengths = opened(folder, "lengths")
    assert isinstance(lengths.scorer, UserScorer)
    assert (await lengths.scorer.score(lengths.samples[0], "quite a lot", NO_RUN)).value == 1
    overruled = opened(folder, f"plain?scorer=own_{folder.name}:longer")
    assert overruled.scorer.name == "longer"


@pytest.mark.parametrize("name", ["plain", "samples", "ready"])
def test_rows_samples_and_tasks_will_do(folder: Path, name: str) -> None:
    found = opened(folder, name)
    assert found.samples[0].input == "a?"
    assert found.scorer.name == "exact"


@pytest.mark.parametrize(
    ("rest", "kind", "words"),
    [
        ("sums?sise=5", UnknownNameError, ["'sise'", "size"]),
        ("sums?size=many", UserError, ["size", "a whole number"]),
        ("ready?size=5", UnknownNameError, ["'size'"]),
        ("needs", UserError, ["needs the option size", "?size=VALUE"]),
        ("double", DatasetError, ["'q'", "rows 1 and 2"]),
        ("broken", UserError, ["RuntimeError: no data today"]),
        ("nan", DatasetError, ["row 1", "null"]),
        ("text", UserError, ["must be or return rows", "'rows'"]),
        ("mixed", DatasetError, ["row 2", "must be a mapping"]),
        ("number", UserError, ["must be or return rows"]),
        ("plane", UserError, ["has no 'plane'", "plain"]),
        ("needs?size=0", DatasetError, ["no rows"]),
    ],
)
def test_mistakes_are_named(folder: Path, rest: str, kind: type[UserError], words: list[str]) -> None:
    with pytest.raises(kind) as caught:
        opened(folder, rest)
    assert all(word in str(caught.value) for word in words)


def test_a_module_that_is_not_there_is_an_unknown_task(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown task 'nosuchmodule'"):
        open_task("nosuchmodule:rows", folder=tmp_path)


def test_the_decorator_keeps_a_callable_and_refuses_a_coroutine() -> None:
    @task
    def rows(count: int) -> list[dict[str, str]]:
        return [{"input": "a", "target": "a"}] * count

    assert len(rows(2)) == 2

    async def later() -> list[dict[str, str]]:
        return []

    with pytest.raises(UserError, match="a plain function"):
        task(later)


def test_what_stands_for_a_task_in_a_script(tmp_path: Path) -> None:
    @task(scorer="numeric")
    def sums(count: int = 3) -> list[dict[str, Any]]:
        return [{"input": f"{number}+0?", "target": number} for number in range(count)]

    made = as_task(sums, folder=tmp_path, limit=2, drop_bad_gold=True)
    assert (made.name, len(made.samples), made.drop_bad_gold) == ("sums", 2, True)
    assert as_task(made, folder=tmp_path) is made
    assert as_task([{"input": "a", "target": "a"}], folder=tmp_path).samples[0].id == "1"
    with pytest.raises(UserError, match="must be or return rows"):
        as_task(3, folder=tmp_path)
