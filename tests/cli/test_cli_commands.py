"""The commands end to end, with a scripted model: text for people, documents for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, str, str]]
SUMS = ("--task", "jsonl:sums.jsonl", "--model", "adder")


def document(result: tuple[int, str, str], code: int = 0) -> Any:
    assert (result[0], result[2].count("\n")) == (code, 1 if code else 0), result
    assert result[1].count("\n") == 1
    return json.loads(result[1])


def test_eval_prints_one_document_with_a_row_for_every_workflow(treadle: Command) -> None:
    report = document(treadle("eval", "single,cot", *SUMS, "--json"))
    assert report["task"] == "jsonl:sums.jsonl"
    assert report["ended_by"] == "done"
    assert [row["workflow"] for row in report["results"]] == ["single", "cot"]
    single = report["results"][0]
    assert (single["n"], single["scored"], single["score"]) == (12, 12, pytest.approx(2 / 3))
    assert single["calls"] == {"logical": 12, "paid": 12, "cached": 0, "retried": 0}
    assert single["usd"] == pytest.approx(12 * 20e-6)


def test_a_second_eval_pays_nothing_and_says_so(treadle: Command) -> None:
    treadle("eval", "single", *SUMS)
    code, out, err = treadle("eval", "single", *SUMS)
    assert (code, err) == (0, "")
    assert "66.7" in out
    assert "all cached" in out
    assert "$0.000020" in out


def test_limit_repeat_and_fresh_reach_the_measurement(treadle: Command) -> None:
    report = document(treadle("eval", "single", *SUMS, "--limit", "6", "--repeat", "3", "--fresh", "1", "--json"))
    row = report["results"][0]
    assert (row["n"], len(row["repeats"]), row["calls"]["paid"]) == (6, 3, 18)
    assert report["noise"]["repeats"] == 3


def test_eval_against_an_earlier_run_is_a_gate(treadle: Command) -> None:
    run = document(treadle("eval", "single,cot", *SUMS, "--json"))["run"]
    gate = ("eval", "single", *SUMS, "--against", run, "--json")
    report = document(treadle(*gate, "--fail-if", "worse"))
    assert report["against"]["difference"] == 0
    assert report["against"]["b"] == f"{run}/single"
    verdict = report["against"]["verdict"]
    assert document(treadle(*gate, "--fail-if", f"worse,{verdict}"), code=1)["against"]["verdict"] == verdict


def test_a_dry_run_spends_nothing(treadle: Command) -> None:
    estimate = document(treadle("eval", "single", "cot", *SUMS, "--repeat", "2", "--dry-run", "--json"))
    assert estimate["calls"] == {"low": 48, "high": 48}
    assert set(estimate) == {"calls", "tokens", "usd", "seconds", "runs_code"}
    assert estimate["runs_code"] is False
    assert document(treadle("runs", "--json")) == []
    assert "nothing is spent" in treadle("run", "cot", "What is 1 + 1?", "--model", "adder", "--dry-run")[1]


def test_baseline_shows_the_noise_floor_and_advises(treadle: Command) -> None:
    report = document(treadle("baseline", *SUMS, "--repeat", "2", "--json"))
    assert [row["workflow"] for row in report["results"]] == ["single", "cot", "self-consistency?n=5"]
    assert report["noise"]["repeats"] == 2
    assert report["advice"]
    code, out, _ = treadle("baseline", *SUMS, "--repeat", "2")
    assert code == 0
    assert "noise floor" in out
    assert f"  • {report['advice'][0][:40]}" in out


def test_compare_takes_rows_of_runs_or_workflows(treadle: Command) -> None:
    run = document(treadle("eval", "single", "self-consistency?n=5", *SUMS, "--json"))["run"]
    rows = document(treadle("compare", f"{run}/self-consistency?n=5", f"{run}/single", "--json"))
    assert set(rows) >= {"a", "b", "n", "difference", "ci95", "p_value", "verdict", "flipped"}
    measured = document(treadle("compare", "self-consistency?n=5", "single", *SUMS, "--json"))
    assert measured["difference"] == rows["difference"]
    code, out, _ = treadle("compare", f"{run}/self-consistency?n=5", f"{run}/single")
    assert code == 0
    assert rows["verdict"] in out
    assert out.strip("\n") == out[:-1]


def test_run_answers_and_shows_its_trace(treadle: Command) -> None:
    answer = document(treadle("run", "single", "What is 4 + 5?", "--model", "adder", "--json"))
    assert answer["answer"] == "The answer is 9"
    assert answer["trace"][0]["call"] == "adder"
    assert set(answer) >= {"run", "answer", "calls", "tokens", "usd", "seconds", "trace"}
    code, out, _ = treadle("run", "single", "What is 4 + 5?", "--model", "adder")
    assert code == 0
    assert out.startswith("The answer is 9\n")
    assert "cached" in out


def test_runs_lists_the_latest_first(treadle: Command) -> None:
    first = document(treadle("eval", "single", *SUMS, "--json"))["run"]
    second = document(treadle("run", "single", "What is 4 + 5?", "--model", "adder", "--json"))["run"]
    listed = document(treadle("runs", "--json"))
    assert [run["run"] for run in listed] == [second, first]
    assert listed[1] == listed[1] | {"command": "eval", "task": "jsonl:sums.jsonl", "ended_by": "done"}
    assert first in treadle("runs")[1]


def test_trace_finds_what_failed_and_what_was_said(treadle: Command) -> None:
    run = document(treadle("eval", "single", *SUMS, "--json"))["run"]
    failed = document(treadle("trace", run, "--failed", "--json"))
    assert failed["run"] == run
    assert [sample["id"] for sample in failed["samples"]] == ["s3", "s6", "s9", "s12"]
    assert failed["samples"][0] == failed["samples"][0] | {"score": 0.0, "status": "ok", "answer": "0"}
    code, out, _ = treadle("trace", run, "--sample", "s4", "--full")
    assert code == 0
    assert "What is 4 + 2?" in out
    assert "reply: The answer is 6" in out
    assert "s5" not in out


def test_trace_shows_what_flipped_between_two_runs(treadle: Command) -> None:
    run = document(treadle("eval", "single", *SUMS, "--json"))["run"]
    other = document(treadle("eval", "single", *SUMS, "--fresh", "1", "--json"))["run"]
    flipped = document(treadle("compare", run, other, "--json"))["flipped"]
    shown = document(treadle("trace", run, "--flipped", other, "--json"))["samples"]
    assert [sample["id"] for sample in shown] == flipped
    assert flipped
    assert all({sample["score"], sample["against"]["score"]} == {0.0, 1.0} for sample in shown)


def test_search_finds_a_structure_and_resumes(treadle: Command) -> None:
    asked = ("search", "--space", "workflows:single,cot,self-consistency?n=3", *SUMS, "--test-repeat", "1")
    report = document(treadle(*asked, "--json"))
    assert report["ended_by"] == "done"
    assert report["space"]["valid"] == 3
    assert report["best"]["workflow"] in {"single", "cot", "self-consistency?n=3"}
    again = document(treadle(*asked, "--resume", report["run"], "--json"))
    assert (again["run"], again["best"]) == (report["run"], report["best"])
    code, out, _ = treadle(*asked)
    assert code == 0
    assert f"best: {report['best']['workflow']}" in out


def test_search_dry_run_says_what_it_would_cost_and_could_show(treadle: Command) -> None:
    estimate = document(treadle("search", "--space", "workflows:single,cot", *SUMS, "--dry-run", "--json"))
    wanted = {"structures", "samples", "calls_per_structure", "calls", "tokens", "usd", "seconds", "detectable"}
    assert set(estimate) == wanted
    assert estimate["structures"] == {"low": 2, "high": 2}


def test_samples_plans_in_three_directions(treadle: Command) -> None:
    needed = document(treadle("samples", "--effect", "5", "--json"))
    assert needed["power"] == 0.8
    shown = document(treadle("samples", "--n", str(needed["n"]), "--json"))
    assert shown["effect"] <= 5
    both = document(treadle("samples", "--n", str(needed["n"]), "--effect", "5", "--json"))
    assert 0.8 <= both["power"] < 0.82
    assert f"{needed['n']:,} samples" in treadle("samples", "--effect", "5")[1]


def test_init_writes_files_that_work_and_never_overwrites(treadle: Command, place: Path) -> None:
    folder = place / "new"
    written = document(treadle("init", "--config", "new/treadle.toml", "--json"))["written"]
    assert {Path(path).name for path in written} == {"treadle.toml", "example-task.jsonl"}
    (folder / "treadle.toml").write_text("mine")
    assert treadle("init", "--config", "new/treadle.toml")[0] == 2
    assert (folder / "treadle.toml").read_text() == "mine"
    assert treadle("init", "--config", "new/treadle.toml", "--force")[0] == 0
    code, out, _ = treadle(
        "baseline",
        "--task",
        "simulated:llm?search=6&selection=6&test=6",
        "--repeat",
        "2",
        "--config",
        "new/treadle.toml",
    )
    assert code == 0
    assert "simulated: the numbers say nothing about real models" in out
    task = ("--task", "jsonl:new/example-task.jsonl", "--config", "new/treadle.toml")
    assert json.loads(treadle("eval", "single", *task, "--json")[1])["results"][0]["scored"] == 12


def test_models_lists_aliases_with_price_and_state(treadle: Command, place: Path) -> None:
    with (place / "treadle.toml").open("a") as file:
        file.write('[models.far]\nmodel = "openai:gpt-5-mini"\napi_key_env = "NOT_SET_ANYWHERE"\n')
    listed = {model["alias"]: model for model in document(treadle("models", "--json"))}
    assert listed["adder"] == listed["adder"] | {"model": "scripted:adder.py", "state": "ready"}
    assert listed["adder"]["price"]["output"] == 2.0
    assert "NOT_SET_ANYWHERE" in listed["far"]["state"]
    assert "local:smollm2" in listed


def test_doctor_says_what_works_and_what_does_not(treadle: Command, place: Path) -> None:
    healthy = document(treadle("doctor", "--json"))
    assert healthy["ok"]
    checks = {check["name"]: check for check in healthy["checks"]}
    assert checks["store"]["ok"]
    assert checks["model adder"]["ok"]
    assert checks["sandbox"]["detail"]
    with (place / "treadle.toml").open("a") as file:
        file.write('[models.gone]\nmodel = "scripted:nowhere.py"\n')
    code, out, _ = treadle("doctor")
    assert code == 1
    assert "nowhere.py" in out


def test_a_budget_that_ends_it_between_repeats_marks_the_row(treadle: Command) -> None:
    code, out, _ = treadle(
        "eval",
        "single",
        "--task",
        "jsonl:sums.jsonl",
        "--model",
        "adder",
        "--repeat",
        "3",
        "--concurrency",
        "1",
        "--budget-calls",
        "16",
    )
    assert code == 3
    assert "12*" in out
    assert "* single: 1 of 3 repeats finished, 4 of 12 in repeat 2" in out
    assert "*" not in treadle("eval", "single", "--task", "jsonl:sums.jsonl", "--model", "adder", "--repeat", "2")[1]
