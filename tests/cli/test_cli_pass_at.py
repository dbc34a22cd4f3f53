"""pass@k on the command line, and an exit code that does not hide a leak."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]
SUMS = ("--task", "jsonl:sums.jsonl", "--model", "adder")
LEAKING = """\
import treadle
from treadle.sandbox.code_tests import CodeTests
from treadle.tasks.base import Sample

TEST = "assert shout('hello') == 'HELLO!'"


@treadle.task(scorer="exact")
def shouts():
    hidden = {"tests": CodeTests((TEST,), ("shout",))}
    return [Sample(f"s{n}", f"What is {n} + 2?", str(n + 2), hidden=hidden) for n in (1, 3, 4)]


@treadle.workflow
async def telling(problem, run):
    return (await run.ask(f"{TEST}\\n\\n{problem}" if problem.id == "s3" else problem)).text
"""


def test_one_of_several_answers_is_told_for_each_k(treadle: Command) -> None:
    asked = ("eval", "single", *SUMS, "--repeat", "4", "--pass-at", "1,4")
    code, out, _ = treadle(*asked, "--json")
    row = json.loads(out)["results"][0]
    assert code == 0
    assert list(row["pass_at_k"]) == ["1", "4"]
    assert row["pass_at_k"]["1"]["score"] == pytest.approx(row["score"])
    assert row["pass_at_k"]["4"]["score"] >= row["pass_at_k"]["1"]["score"]
    code, out, _ = treadle(*asked)
    assert (code, "pass@k" in out) == (0, True)


@pytest.mark.parametrize(
    ("given", "words"), [("3", "--repeat 3"), ("0,1", "k starts at 1"), ("one", "whole numbers"), ("9" * 5000, "whole")]
)
def test_what_cannot_be_told_is_refused_before_anything_is_spent(treadle: Command, given: str, words: str) -> None:
    code, out, err = treadle("eval", "single", *SUMS, "--repeat", "2", "--pass-at", given, "--json")
    assert (code, out) == (2, "")
    assert words in err
    assert json.loads(treadle("runs", "--json")[1]) == []


def test_a_leak_is_listed_and_the_result_not_usable(treadle: Command, place: Path) -> None:
    (place / "leaky.py").write_text(LEAKING)
    asked = ("eval", "single", "leaky:telling", "--task", "leaky:shouts", "--model", "adder")
    code, out, err = treadle(*asked, "--json")
    document = json.loads(out)
    assert code == 1
    assert [(leak["sample"], leak["workflow"]) for leak in document["leaks"]] == [("s3", "leaky:telling")]
    assert document["results"][0]["failed"]["crash"] == 0
    assert "hidden tests" in err
    code, out, err = treadle(*asked)
    assert code == 1
    assert "hidden tests stood in the prompts of leaky:telling" in " ".join((out + err).split())
