"""A run killed in the middle: what was paid for is neither lost nor paid again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TREADLE = Path(sys.executable).with_name("treadle")
SCRIPT = """
import os
from random import Random

calls = open(os.environ["CALLS"], "w", buffering=1) if "CALLS" in os.environ else None

def reply(request):
    text = " ".join(message.content for message in request.messages)
    if calls:
        calls.write("called\\n")
    word = text.split("say ")[1].split()[0]
    right = Random(f"{text}{request.draw}").random() < 0.7
    return {"text": f"Answer: {word if right else 'no'}", "delay_s": 0.002}
"""
IN_FLIGHT = 8 * 3
"""Eight questions at once, of up to three calls each."""
ARGUMENTS = {
    "eval": ["eval", "single", "self-consistency?n=3", "--repeat", "2"],
    "search": ["search", "--space", "workflows:single,cot,medprompt?votes=1", "--test-repeat", "1"],
    "archon": ["search", "--space", "archon:axes.json", "--models", "m,n", "--max-evals", "5", "--test-repeat", "1"],
}
AXES = '{"models": [1, 2], "samples": [1, 2], "fusers": [2], "fusion_layers": [1, 2]}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model that plays, and forty questions."""
    (tmp_path / "reply.py").write_text(SCRIPT)
    models = (f'[models.{alias}]\nmodel = "scripted:reply.py"\nmax_concurrency = 4\n' for alias in "mn")
    (tmp_path / "treadle.toml").write_text("\n".join([*models, '[roles]\nstrong = "m"\n']))
    (tmp_path / "axes.json").write_text(AXES)
    rows = [{"id": f"q{i}", "input": f"say w{i} please", "target": f"w{i}"} for i in range(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def started(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    command = [str(TREADLE), *arguments, "--task", "jsonl:rows.jsonl", "--json"]
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(folder: Path, *arguments: str) -> dict[str, Any]:
    process = started(folder, *arguments)
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(out)


def killed_after(folder: Path, calls: int, *arguments: str) -> int:
    """Run a command, kill it without warning once its model was called so often, and count the calls it made."""
    os.mkfifo(folder / "calls")
    process = started(folder, *arguments, CALLS=str(folder / "calls"))
    with (folder / "calls").open() as told:
        for _ in range(calls):
            assert told.readline(), "the command ended before it could be killed"
        process.kill()
        process.communicate()
        return calls + len(told.readlines())


def paid(document: dict[str, Any]) -> int:
    return sum(row["calls"]["paid"] for row in document["results"])


def scores(document: dict[str, Any]) -> list[Any]:
    return [[(s["id"], s["score"], s["answer"]) for s in row["samples"]] for row in document["results"]]


@pytest.mark.parametrize("calls", [30, 200])
def test_an_evaluation_pays_only_for_what_was_missing(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, calls: int
) -> None:
    made = killed_after(folder, calls, *ARGUMENTS["eval"])
    runs = json.loads(subprocess.check_output([TREADLE, "runs", "--json"], cwd=folder))
    assert runs[0]["ended_by"] == "killed"
    second = finished(folder, *ARGUMENTS["eval"])
    elsewhere = tmp_path_factory.mktemp("untouched")
    for file in ("reply.py", "treadle.toml", "rows.jsonl", "axes.json"):
        (elsewhere / file).write_bytes((folder / file).read_bytes())
    untouched = finished(elsewhere, *ARGUMENTS["eval"])
    assert scores(second) == scores(untouched)
    assert paid(untouched) == 40 * 2 * 4
    lost = paid(second) - (paid(untouched) - made)
    assert 0 <= lost <= IN_FLIGHT, "only calls whose results nobody had seen yet are made again"


@pytest.mark.parametrize(("name", "calls"), [("search", 60), ("archon", 60), ("archon", 900)])
def test_a_search_resumes_under_its_own_id_and_its_cost_is_that_of_both_parts(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, name: str, calls: int
) -> None:
    killed_after(folder, calls, *ARGUMENTS[name])
    (run,) = json.loads(subprocess.check_output([TREADLE, "runs", "--json"], cwd=folder))
    resumed = json.loads(
        subprocess.check_output([TREADLE, "search", "--resume", run["run"], "--json"], cwd=folder, text=True)
    )
    elsewhere = tmp_path_factory.mktemp("untouched")
    for file in ("reply.py", "treadle.toml", "rows.jsonl", "axes.json"):
        (elsewhere / file).write_bytes((folder / file).read_bytes())
    untouched = finished(elsewhere, *ARGUMENTS[name])
    assert resumed["run"] == run["run"]
    for part in ("test", "evaluated", "space", "ranking"):
        assert resumed[part] == untouched[part], part
    assert resumed["best"]["workflow"] == untouched["best"]["workflow"]
    assert resumed["spent"]["calls_paid"] == untouched["spent"]["calls_paid"]
    assert resumed["spent"]["tokens"] == untouched["spent"]["tokens"]
