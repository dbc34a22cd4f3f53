"""``treadle ablate``: tables for people, documents for programs, files for later."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, str, str]]
SCRIPT = '''\
import re
from random import Random

def reply(request):
    """Drafts add, right in 45 %; the ranker finds what is right; the verifier nods at everything."""
    said, last = "\\n".join(each.content for each in request.messages), request.messages[-1].content
    first, second = map(int, re.search(r"What is (\\d+) \\+ (\\d+)", said).groups())
    if "Verdict:" in last:
        return "Verdict: correct"
    if "Ranking:" in last:
        shown = re.findall(r"<candidate_(\\d+)>\\s*It is (\\d+)", last)
        right = [number for number, value in shown if int(value) == first + second]
        return f"Ranking: {(right or ['1'])[0]}"
    if "Check the candidate" in last:
        return "All steps hold."
    lucky = Random(f"{first} {request.draw}").random() < 0.45
    return f"It is {first + second + (0 if lucky else 1 + request.draw)}"
'''
FUNNEL = "archon:4g > v > r1"
TASK = ("--task", "jsonl:many.jsonl")


@pytest.fixture(autouse=True)
def _many_sums(place: Path) -> None:  # pyright: ignore[reportUnusedFunction]
    (place / "adder.py").write_text(SCRIPT)
    rows = [f'{{"id": "s{n}", "input": "What is {n} + 2?", "target": {n + 2}}}\n' for n in range(1, 101)]
    (place / "many.jsonl").write_text("".join(rows))


def document(result: tuple[int, str, str], code: int = 0) -> Any:
    assert result[0] == code, result
    assert result[1].count("\n") == 1
    return json.loads(result[1])


def test_the_document_has_what_the_contract_says(treadle: Command) -> None:
    report = document(treadle("ablate", FUNNEL, *TASK, "--margin", "5", "--json"))
    assert {"run", "parts", "lean"} <= set(report)
    for part in report["parts"]:
        assert {"part", "difference", "ci95", "p_value", "dead"} <= set(part)
        assert part["ci95"][0] <= part["difference"] <= part["ci95"][1]
        assert part["dead"] == (part["ci95"][1] < 5)
    assert set(report["lean"]) >= {"workflow", "score", "per_sample"}
    assert [part["dead"] for part in report["parts"]] == [False, True, False]
    again = document(treadle("compare", report["lean"]["workflow"], FUNNEL, *TASK, "--fresh", "1", "--json"))
    assert again["n"] == 100
    listed = document(treadle("runs", "--json"))
    assert (listed[1]["run"], listed[1]["command"]) == (report["run"], "ablate")


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_fits_and_says_what_to_do_next(
    treadle: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = treadle("ablate", FUNNEL, *TASK, "--margin", "5", "--limit", "100")
    assert (code, err) == (0, "")
    steps = [line for line in out.splitlines() if " treadle " in line]
    assert all(len(line) <= columns for line in out.splitlines() if line not in steps)
    assert steps[0].startswith("look next: treadle trace")
    assert steps[1].endswith("--task jsonl:many.jsonl --limit 100 --fresh 1")
    text = " ".join(out.split())
    assert "dead weight" in text
    assert "needed" in text
    assert "lean: archon:4g>r1" in text
    assert "chosen on these samples, so its score is optimistic" in text


def test_the_lean_structure_is_written_and_can_be_used(treadle: Command, place: Path) -> None:
    code, _, err = treadle("ablate", FUNNEL, *TASK, "--margin", "5", "-o", "lean.json")
    assert (code, err.count("\n")) == (0, 1)
    assert "archon:lean.json" in err
    kinds = [layer[0]["type"] for layer in json.loads((place / "lean.json").read_text())["layers"]]
    assert kinds == ["generator", "ranker"]
    measured = document(treadle("eval", "archon:lean.json", *TASK, "--json"))
    assert measured["results"][0]["calls"]["paid"] == 0


def test_nothing_dead_writes_nothing_and_says_so(treadle: Command, place: Path) -> None:
    code, out, err = treadle("ablate", "archon:4g > r1", *TASK, "--limit", "30", "-o", "lean.json")
    assert code == 0
    assert "lean.json is not written" in err
    assert not (place / "lean.json").exists()
    assert "lean:" not in out


def test_few_questions_are_told_what_they_cannot_show(treadle: Command) -> None:
    code, out, _ = treadle("ablate", FUNNEL, *TASK, "--limit", "20")
    assert code == 0
    text = " ".join(out.split())
    assert "inconclusive is not dead: with 20 questions a part without any effect leaves ±" in text
    dry = " ".join(treadle("ablate", FUNNEL, *TASK, "--limit", "20", "--dry-run")[1].split())
    assert "with 20 questions a part without any effect leaves ±" in dry


def test_a_dry_run_asks_nothing(treadle: Command) -> None:
    estimate = document(treadle("ablate", FUNNEL, *TASK, "--limit", "20", "--dry-run", "--json"))
    assert estimate["structures"] == {"low": 4, "high": 6}
    assert {"calls", "tokens", "usd", "seconds", "samples"} <= set(estimate)
    assert estimate["calls"]["low"] < estimate["shared_calls"] < estimate["calls"]["high"]
    assert document(treadle("runs", "--json")) == []


def test_a_budget_ends_with_the_same_document(treadle: Command) -> None:
    whole = document(treadle("ablate", FUNNEL, *TASK, "--limit", "20", "--json"))
    fresh = ("--limit", "20", "--fresh", "1", "--budget-calls", "100")
    result = treadle("ablate", FUNNEL, *TASK, *fresh, "--json")
    report = document(result, code=3)
    assert (report["ended_by"], report["lean"], list(report)) == ("budget", None, list(whole))
    assert [part["part"] for part in report["parts"]] == [part["part"] for part in whole["parts"]]
    assert report["spent"]["calls_paid"] == 100
    assert "--budget-calls" in result[2]
    code, out, _ = treadle("ablate", FUNNEL, *TASK, *fresh[:3], "2", *fresh[4:])
    assert code == 3
    assert "not measured" in out


def test_failures_of_the_provider_give_no_verdict(treadle: Command, place: Path) -> None:
    (place / "adder.py").write_text("def reply(request):\n    raise RuntimeError('down')\n")
    report = document(treadle("ablate", "archon:2g > r1", *TASK, "--limit", "5", "--json"), code=1)
    assert (report["ended_by"], report["lean"], report["whole"]["score"]) == ("infra", None, None)
    assert not any(part["dead"] for part in report["parts"])


def test_simulations_are_labelled(treadle: Command) -> None:
    asked = ("ablate", "self-consistency?n=3", "--task", "simulated:llm", "--limit", "12", "--models", "auto")
    assert "simulated: the numbers say nothing about real models" in treadle(*asked)[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("single", *TASK), "single has no part"),
        (("own:flow", *TASK), "function of your own"),
        (("nosuch", *TASK), "unknown workflow 'nosuch'"),
        (("archon:2q > f", *TASK), "unknown component '2q'"),
        ((FUNNEL, *TASK, "--margin", "-1"), "--margin takes 0 or more"),
        ((FUNNEL, *TASK, "--margin", "inf"), "not a finite number"),
        ((FUNNEL, *TASK, "--repeat", "0"), "--repeat"),
        ((FUNNEL, *TASK, "-o", "no/lean.json"), "there is no folder no"),
        ((FUNNEL, *TASK, "-o", "."), "is a folder"),
        (("self-consistency?n=3", *TASK, "-o", "lean.json"), "-o writes Archon structures"),
        (("archon:2g(1,2) > r1", *TASK), "only one model is given"),
        (("archon:2g(1,2) > r1", *TASK, "--dry-run"), "only one model is given"),
        ((FUNNEL,), "--task"),
    ],
)
def test_mistakes_end_with_two_and_ask_nothing(
    treadle: Command, place: Path, words: tuple[str, ...], told: str
) -> None:
    (place / "own.py").write_text("async def flow(problem, run):\n    return ''\n")
    (place / "adder.py").write_text("def reply(request):\n    raise SystemExit('asked')\n")
    code, out, err = treadle("ablate", *words)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") <= 2
