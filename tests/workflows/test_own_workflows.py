"""A user's own functions as workflows: by name, by decorator, as they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from treadle.errors import UserError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.testing.stage import stage
from treadle.workflows.base import Calls
from treadle.workflows.decorator import workflow
from treadle.workflows.registry import as_workflow, open_workflow
from treadle.workflows.self_consistency import SelfConsistency

FLOWS = """
import treadle_flow_words as words

async def shout(problem, run, times: int = 2, *, mark="!", sure: bool = False):
    completion = await run.ask(problem, draw=0)
    return words.upper(completion.text) + mark * times + str(sure)

async def free(problem, run, **settings):
    return repr(sorted(settings.items()))

async def needs(problem, run, *, level: float):
    return str(level)

def plain(problem, run):
    return ""

async def lonely(problem):
    return ""

async def greedy(problem, run, budget):
    return ""

class Chain:
    async def __call__(self, problem, run):
        return "chained"

chain = Chain()
number = 5
"""

DECORATED = "from treadle.workflows.decorator import workflow\n@workflow\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "treadle_flows.py").write_text(FLOWS)
    (tmp_path / "treadle_flow_words.py").write_text("def upper(text):\n    return text.upper()\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("treadle_flow")]:
        del sys.modules[name]


async def test_a_function_of_a_file_is_a_workflow_with_its_parameters_as_settings(folder: Path) -> None:
    flow = open_workflow("treadle_flows:shout?sure=true&times=3&mark=%3F", folder=folder)
    assert flow.name == "treadle_flows:shout?mark=%3F&sure=true&times=3"
    assert flow.calls == Calls(1, None)
    async with stage(lambda _: "hello") as here:
        assert await flow(Problem("?"), here.run) == "HELLO???True"
        again = open_workflow(flow.name, folder=folder)
        assert again.name == flow.name
    assert open_workflow("treadle_flows:shout?times=2&mark=!", folder=folder).name == "treadle_flows:shout"


async def test_a_function_may_take_any_setting_or_need_one(folder: Path) -> None:
    async with stage(lambda _: "") as here:
        free = open_workflow("treadle_flows:free?b=2&a=1", folder=folder)
        assert await free(Problem("?"), here.run) == "[('a', '1'), ('b', '2')]"
        needs = open_workflow("treadle_flows:needs?level=0.5", folder=folder)
        assert await needs(Problem("?"), here.run) == "0.5"
        chained = open_workflow("treadle_flows:chain", folder=folder)
        assert await chained(Problem("?"), here.run) == "chained"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nowhere_at_all:flow", ["no module 'nowhere_at_all'"]),
        ("treadle_flows:shuot", ["has no 'shuot'", "did you mean shout?"]),
        ("treadle_flows:plain", ["must be async"]),
        ("treadle_flows:lonely", ["must take a problem and a run"]),
        ("treadle_flows:greedy", ["must take a problem and a run"]),
        ("treadle_flows:number", ["must be an async function", "not a int"]),
        ("treadle_flows:Chain", ["must be an async function", "the class Chain"]),
        ("treadle_flows:shout?tims=3", ["no setting 'tims'", "did you mean times?", "times (a whole number)"]),
        ("treadle_flows:shout?times=many", ["times must be a whole number", "'many'"]),
        ("treadle_flows:shout?sure=1", ["sure must be true or false"]),
        ("treadle_flows:needs", ["needs the setting level"]),
        ("treadle_flows:needs?level=high", ["level must be a number"]),
    ],
)
def test_what_is_no_workflow_is_refused_in_one_line(folder: Path, spec: str, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        open_workflow(spec, folder=folder)
    assert [word for word in words if word not in str(caught.value)] == []
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\ny = 1 / 0\n", ["ZeroDivisionError", "treadle_flow_bad.py", "line 2"]),
        ("\n\nraise SystemExit(3)\n", ["SystemExit", "line 3"]),
        ("def f(:\n", ["SyntaxError", "treadle_flow_bad.py", "line 1"]),
        ("import treadle_flow_missing\n", ["treadle_flow_missing", "line 1"]),
        ("raise ValueError('first\\nsecond')\n", ["ValueError: first", "line 1"]),
        (f"{DECORATED}def f(problem, run): ...\n", ["f must be async", "line 2"]),
    ],
    ids=("raises", "exits", "syntax", "import", "two lines", "decorated"),
)
def test_a_file_that_fails_to_load_is_named_with_its_line(folder: Path, source: str, words: list[str]) -> None:
    (folder / "treadle_flow_bad.py").write_text(source)
    with pytest.raises(UserError) as caught:
        open_workflow("treadle_flow_bad:f", folder=folder)
    assert [word for word in words if word not in str(caught.value)] == []
    assert "\n" not in str(caught.value)


@workflow
async def twice(problem: Problem, run: Run) -> str:
    return str(problem) * 2


@workflow(name="thrice")
async def three_times(problem: Problem, run: Run) -> str:
    return str(problem) * 3


async def once(problem: Problem, run: Run) -> str:
    return str(problem)


async def test_a_decorated_function_stays_a_function_and_is_a_workflow(tmp_path: Path) -> None:
    async with stage(lambda _: "") as here:
        assert await twice(Problem("x"), here.run) == "xx"
        for given, name, answer in [
            (twice, f"{__name__}:twice", "xx"),
            (three_times, "thrice", "xxx"),
            (once, f"{__name__}:once", "x"),
        ]:
            flow = as_workflow(given, tmp_path)
            assert flow.name == name
            assert await flow(Problem("x"), here.run) == answer
            assert as_workflow(flow, tmp_path) is flow


def test_names_and_settings_stand_for_workflows_too(tmp_path: Path) -> None:
    assert as_workflow("self-consistency?n=3", tmp_path).name == "self-consistency?n=3"
    assert as_workflow(SelfConsistency(n=3), tmp_path).name == "self-consistency?n=3"
    with pytest.raises(UserError, match="a workflow is a name or an async function"):
        as_workflow(3, tmp_path)


def test_the_decorator_refuses_what_is_no_workflow_where_it_stands() -> None:
    def plain(problem: Problem, run: Run) -> str:
        return ""

    async def lonely(problem: Problem) -> str:
        return ""

    with pytest.raises(UserError, match=r"plain must be async"):
        workflow(plain)  # pyright: ignore[reportArgumentType, reportCallIssue]
    with pytest.raises(UserError, match=r"lonely must take a problem and a run"):
        workflow(lonely)
