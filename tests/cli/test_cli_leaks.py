"""A leak is listed, and makes the result unusable, in whatever command it happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, str, str]]
LEAKING = """\
import treadle
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.base import Sample

TEST = "assert shout('hello') == 'HELLO!'"


@treadle.task(scorer="exact")
def shouts():
    hidden = {"tests": CodeTests((TEST,), ("shout",))}
    return [Sample(f"s{n}", f"What is {n} + 2?", str(n + 2), hidden=hidden) for n in range(60)]


async def right(problem, run):
    await run.ask(problem)
    return str(int(problem.split()[2]) + 2)


async def telling(problem, run):
    \"\"\"Always right, and the one in sixty that leaks is a failure: it would win.\"\"\"
    await run.ask(f"{problem} {TEST}" if problem.id in LEAKS_ON else problem)
    return str(int(problem.split()[2]) + 2)


LEAKS_ON = LEAKS
"""
TASK = ("--task", "leaky:shouts", "--model", "adder", "--json")


@pytest.fixture
def leaky(place: Path) -> Callable[[Any], None]:
    def write(ids: Any) -> None:
        (place / "leaky.py").write_text(LEAKING.replace("= LEAKS\n", f"= {ids!r}\n"))

    return write


def test_comparing_gives_no_verdict(treadle: Command, leaky: Callable[[Any], None]) -> None:
    leaky({"s3"})
    code, out, err = treadle("compare", "leaky:telling", "leaky:right", *TASK)
    document = json.loads(out)
    assert (code, document["verdict"], document["ended_by"]) == (1, None, "done")
    assert [leak["sample"] for leak in document["leaks"]] == ["s3"]
    assert "hidden tests stood in the prompts of leaky:telling" in err
    code, out, _ = treadle("compare", document["a"], document["b"], "--json")
    again = json.loads(out)
    assert (code, again["verdict"], again["leaks"]) == (1, None, document["leaks"])
    code, out, err = treadle("eval", "leaky:right", *TASK, "--against", document["a"], "--fail-if", "worse")
    assert code == 1
    assert "hidden tests" in err
    code, out, _ = treadle("compare", "leaky:right", "single", *TASK)
    assert (code, json.loads(out)["leaks"]) == (0, [])


def test_what_leaked_is_no_part_of_what_a_search_finds(treadle: Command, leaky: Callable[[Any], None]) -> None:
    leaky({f"s{n}" for n in range(60)})
    code, out, err = treadle("search", "--space", "workflows:leaky:telling,leaky:right,single", *TASK)
    document = json.loads(out)
    assert code == 1
    assert {leak["workflow"] for leak in document["leaks"]} == {"leaky:telling"}
    assert document["best"]["workflow"] == "leaky:right"
    named = [row["workflow"] for row in (*document["finalists"], *document["pareto"])]
    assert "leaky:telling" not in named
    assert err.count("caution: hidden tests reached the prompts of leaky:telling") == 1


@pytest.mark.parametrize("part", ["search", "selection", "test"])
def test_a_leak_in_any_part_of_a_search_is_one(treadle: Command, leaky: Callable[[Any], None], part: str) -> None:
    from treadle.tasks.open import as_task

    leaky(())
    split = as_task("leaky:shouts", folder=Path.cwd()).split
    leaky({getattr(split, part)[0].id})
    code, out, _ = treadle("search", "--space", "workflows:leaky:telling,single", *TASK)
    document = json.loads(out)
    assert code == 1
    assert {leak["workflow"] for leak in document["leaks"]} == {"leaky:telling"}
    assert document["best"] is None or document["best"]["workflow"] != "leaky:telling"
    assert "leaky:telling" not in [row["workflow"] for row in document["finalists"]]
    assert not [row for row in document["test"]["comparisons"] if row["workflow"] == "leaky:telling"]
    assert "hidden tests" in document["message"]
