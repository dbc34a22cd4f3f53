"""``search --resume``: it goes on as it was begun; what says otherwise is refused, and nothing is passed over."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from treadle.cli.app import app

Command = Callable[..., tuple[int, str, str]]
BEGUN = (
    *("search", "--space", "workflows:single,cot", "--task", "jsonl:sums.jsonl", "--model", "adder"),
    *("--limit", "12", "--role", "judge=adder", "--test-repeat", "1", "--max-calls-per-sample", "5"),
)
OTHER: dict[str, tuple[str, ...]] = {
    "--space": ("workflows:single",),
    "--task": ("jsonl:sums.jsonl?scorer=numeric",),
    "--method": ("random",),
    "--model": ("scripted:adder.py",),
    "--models": ("adder,adder",),
    "--role": ("judge=scripted:adder.py",),
    "--objective": ("cheapest",),
    "--lambda": ("0.5",),
    "--cost-unit": ("calls",),
    "--margin": ("3",),
    "--max-evals": ("1",),
    "--batch": ("2",),
    "--block": ("2",),
    "--no-race": (),
    "--search-repeat": ("2",),
    "--test-repeat": ("2",),
    "--split-seed": ("5",),
    "--limit": ("10",),
    "--seed": ("4",),
    "--fresh": ("1",),
    "--schedule": ("paper",),
    "--anyway": (),
    "--drop-bad-gold": (),
    "--max-calls-per-sample": ("4",),
    "--max-usd-per-sample": ("0.5",),
    "--max-seconds-per-sample": ("60",),
}
FREE = {"--json", "--config", "--dry-run", "--resume", "--concurrency", "--sandbox", "--race", "--help", "-h"}
BUDGETS = {f"--budget-{unit}" for unit in ("usd", "calls", "tokens", "seconds")}


@pytest.fixture
def stopped(treadle: Command) -> str:
    """A search that its budget stopped."""
    code, out, _ = treadle(*BEGUN, "--budget-calls", "3", "--json")
    assert code == 3
    return json.loads(out)["run"]


def paid(treadle: Command) -> list[Any]:
    return [(run["run"], run["ended_by"], run["usd"]) for run in json.loads(treadle("runs", "--json")[1])]


def test_every_option_of_the_search_is_either_compared_or_free() -> None:
    command: Any = typer.main.get_command(app)
    options = {
        option
        for parameter in command.commands["search"].params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert options - {"--help", "-h"} == {*OTHER, *FREE, *BUDGETS} - {"--help", "-h"}


def test_what_contradicts_the_stored_search_is_refused_with_the_stored_value(treadle: Command, stopped: str) -> None:
    before = paid(treadle)
    for flag, value in OTHER.items():
        for more in ((), ("--dry-run",)):
            code, out, err = treadle("search", "--resume", stopped, flag, *value, *more)
            assert (code, out) == (2, ""), flag
            assert f" {flag}" in err
            assert stopped in err
    assert "begun with --limit 12," in treadle("search", "--resume", stopped, "--limit", "10")[2]
    assert "begun without --seed" not in treadle("search", "--resume", stopped, "--seed", "1")[2]
    assert "begun with --role judge=adder," in treadle("search", "--resume", stopped, "--role", "judge=x")[2]
    assert paid(treadle) == before


def test_the_same_values_and_other_budgets_are_fine(treadle: Command, stopped: str) -> None:
    words = (*BEGUN, "--resume", stopped, "--budget-calls", "5000", "--concurrency", "2", "--race")
    code, out, err = treadle(*words, "--json")
    assert (code, err, json.loads(out)["run"]) == (0, "", stopped)


def test_a_dry_run_estimates_the_stored_search_and_spends_nothing(treadle: Command, stopped: str, place: Path) -> None:
    before = paid(treadle)
    code, out, err = treadle("search", "--resume", stopped, "--dry-run", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(treadle(*BEGUN, "--dry-run", "--json")[1])
    assert "nothing is spent" in treadle("search", "--resume", stopped, "--dry-run")[1]
    assert paid(treadle) == before


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_what_cannot_be_resumed_is_refused(treadle: Command, more: tuple[str, ...]) -> None:
    assert "unknown run 'nothing'" in treadle("search", "--resume", "nothing", *more)[2]
    run = json.loads(treadle("run", "single", "What is 1 + 1?", "--model", "adder", "--json")[1])["run"]
    code, _, err = treadle("search", "--resume", run, *more)
    assert code == 2
    assert "cannot be resumed" in err
