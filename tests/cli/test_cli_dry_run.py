"""``--dry-run``: the same refusals as the real command, no key needed, nothing spent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, str, str]]
SUMS = ("--task", "jsonl:sums.jsonl")
SIMULATED = ("--task", "simulated:llm?search=6&selection=6&test=6")
MEASURING: dict[str, tuple[str, ...]] = {
    "eval": ("eval", "single"),
    "baseline": ("baseline", "--repeat", "2"),
    "compare": ("compare", "single", "cot"),
    "search": ("search", "--space", "workflows:single,cot"),
}


@pytest.fixture(params=[*MEASURING, "run"])
def asked(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """A whole command line but for its models."""
    name: str = request.param
    return (*MEASURING[name], *SUMS) if name in MEASURING else ("run", "single", "What is 1 + 1?")


def estimate(result: tuple[int, str, str]) -> Any:
    assert (result[0], result[2]) == (0, ""), result
    return json.loads(result[1])


def spent(treadle: Command) -> list[Any]:
    return json.loads(treadle("runs", "--json")[1])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("--model", "addr"), "did you mean adder"),
        (("--model", "adder", "--role", "judge=addr"), "did you mean adder"),
        (("--model", "adder", "--role", "juge=adder"), "unknown role"),
        (("--model", "scripted:adder.py", "--budget-usd", "1"), "no price"),
        (("--model", "scripted:adder.py", "--max-usd-per-sample", "1"), "no price"),
        (("--model", "adder", "--role", "judge=scripted:adder.py", "--budget-usd", "1"), "no price"),
        (("--model", "scripted:nowhere.py"), "nowhere.py"),
        (("--model", "adder", "--models", "adder"), "give one of them"),
    ],
)
def test_what_the_command_refuses_its_dry_run_refuses(
    treadle: Command, asked: tuple[str, ...], wrong: tuple[str, ...], says: str
) -> None:
    real = treadle(*asked, *wrong)
    assert real[0] == 2
    assert says in real[2]
    assert treadle(*asked, *wrong, "--dry-run") == real
    assert spent(treadle) == []


def test_no_model_at_all_is_refused_in_a_dry_run_too(treadle: Command, asked: tuple[str, ...], place: Path) -> None:
    (place / "treadle.toml").unlink()
    real = treadle(*asked)
    assert real[0] == 2
    assert treadle(*asked, "--dry-run") == real


def test_a_judged_task_needs_a_judge_in_a_dry_run_too(treadle: Command, place: Path) -> None:
    (place / "treadle.toml").write_text((place / "treadle.toml").read_text() + '[roles]\njudge = "nobody"\n')
    words = ("eval", "single", "--task", "jsonl:sums.jsonl?scorer=judge", "--model", "adder")
    real = treadle(*words)
    assert real[0] == 2
    assert "nobody" in real[2]
    assert treadle(*words, "--dry-run") == real


def test_an_earlier_run_that_is_not_there_is_refused(treadle: Command) -> None:
    words = ("eval", "single", *SUMS, "--model", "adder", "--against", "260101-000000-ffff", "--fail-if", "worse")
    real = treadle(*words)
    assert real[0] == 2
    assert treadle(*words, "--dry-run") == real


@pytest.mark.parametrize("name", MEASURING)
@pytest.mark.parametrize("models", [(), ("--models", "auto")])
def test_a_simulated_task_brings_its_models(treadle: Command, place: Path, name: str, models: tuple[str, ...]) -> None:
    (place / "treadle.toml").unlink()
    assert estimate(treadle(*MEASURING[name], *SIMULATED, *models, "--dry-run", "--json"))["calls"]["low"] > 0
    assert spent(treadle) == []


@pytest.mark.parametrize("model", ["openai:gpt-5-mini", "anthropic:claude-3-5-haiku-latest", "far", "own"])
def test_no_key_is_needed(
    treadle: Command, asked: tuple[str, ...], place: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with (place / "treadle.toml").open("a") as file:
        file.write('[models.far]\nmodel = "openai:gpt-5-mini"\n')
        file.write('[models.own]\nmodel = "openai:any"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "OWN"\n')
        file.write("price = { input = 1.0, output = 2.0 }\n")
    found = estimate(treadle(*asked, "--model", model, "--budget-usd", "1", "--dry-run", "--json"))
    assert found["usd"]["high"] > 0
    code, _, err = treadle(*asked, "--model", model)
    assert code == 2
    assert "is not set" in err


def test_a_role_with_a_model_of_its_own_does_not_change_who_answers(treadle: Command) -> None:
    words = ("eval", "single", *SUMS, "--role", "judge=openai:gpt-5-mini", "--dry-run", "--json")
    assert estimate(treadle(*words))["calls"] == {"low": 12, "high": 12}
