"""Who plays in ``treadle fix``: models, workers of one's own, what they would cost, and a person with an editor."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fix_places import Command, make_repository

from treadle.cli.fix_progress import WatchedCourse

FIX = ("fix", "--repo", "repo", "--issue", "issue.md")
OWN = """\
async def mine(assignment, workspace, run):
    await workspace.shell("sed -i 's/x + 1/2 * x/' calc.py", run)
    return "done"


async def asking(assignment, workspace, run):
    await workspace.shell("sed -i 's/x + 1/2 * x/' calc.py", run)
    return (await run.ask("hello", role=assignment.role)).text
"""


@pytest.fixture
def repo(place: Path) -> Path:
    """A repository with a defect beside a treadle.toml with a strong and a weak model."""
    repo = make_repository(place)
    (place / "playing_workers.py").write_text(OWN)
    return repo


@pytest.mark.parametrize("provider", ["local", "openai", "ollama", "anthropic", "scripted"])
def test_no_file_is_run_because_it_is_called_like_a_provider(repo: Path, treadle: Command, provider: str) -> None:
    (repo.parent / f"{provider}.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    code, _, err = treadle(*FIX, "--mode", "weak", "--worker", f"{provider}:qwen", "--max-seconds-per-sample", "2")
    assert code != 0
    assert "module" not in err
    assert not (repo.parent / "ran").exists()


def test_what_is_neither_model_nor_module_is_told_as_a_model(repo: Path, treadle: Command) -> None:
    code, _, err = treadle(*FIX, "--worker", "opnai:o3")
    assert code == 2
    assert "unknown provider 'opnai'" in err


def test_a_worker_of_ones_own_works(repo: Path, treadle: Command) -> None:
    code, out, _ = treadle(*FIX, "--worker", "playing_workers:asking", "--json")
    document = json.loads(out)
    assert (code, document["status"], document["tokens"]["worker"]["calls"]) == (0, "patched", 1)


@pytest.mark.parametrize(
    ("mode", "models"),
    [
        ("full", {"manager": "big", "worker": "playing_workers:mine"}),
        ("simple-loop", {"manager": "big", "worker": "playing_workers:mine"}),
        ("strong", {"manager": "big", "worker": "playing_workers:mine"}),
        ("weak", {"worker": "playing_workers:mine"}),
        ("weak-weak", {"manager": "small", "worker": "playing_workers:mine"}),
    ],
)
def test_a_worker_of_ones_own_is_called_by_its_name(
    repo: Path, treadle: Command, mode: str, models: Mapping[str, str]
) -> None:
    words = (*FIX, "--mode", mode, "--worker", "playing_workers:mine")
    assert json.loads(treadle(*words, "--json")[1])["models"] == models
    heading = treadle(*words)[1].splitlines()[0]
    assert heading == f"fix · {mode} · " + " · ".join(f"{role} {name}" for role, name in models.items())


def test_a_manager_is_enough_beside_a_worker_of_ones_own(repo: Path, treadle: Command) -> None:
    config = (repo.parent / "treadle.toml").read_text().partition("[roles]")[0]
    (repo.parent / "treadle.toml").write_text(config)
    code, out, _ = treadle(*FIX, "--manager", "big", "--worker", "playing_workers:mine", "--json")
    assert (code, json.loads(out)["approved"]) == (0, True)


def usd(treadle: Command, *words: str) -> Mapping[str, float]:
    """What a fix would cost."""
    document: dict[str, Any] = json.loads(treadle(*FIX, *words, "--dry-run", "--json")[1])
    return document["usd"]


def test_a_dry_run_prices_each_role_as_who_plays_it(repo: Path, treadle: Command) -> None:
    weak, strong = usd(treadle, "--mode", "weak"), usd(treadle, "--mode", "strong")
    assert strong == {"low": pytest.approx(10 * weak["low"]), "high": pytest.approx(10 * weak["high"])}
    for mode in ("full", "simple-loop"):
        both, small, big = (
            usd(treadle, "--mode", mode, *players) for players in ((), ("--manager", "small"), ("--worker", "big"))
        )
        assert small["low"] <= both["low"] < big["low"]
        assert small["high"] < both["high"] < big["high"]
    same = usd(treadle, "--mode", "weak-weak")
    assert same == usd(treadle, "--mode", "weak-weak", "--manager", "big")
    assert json.loads(treadle("runs", "--json")[1]) == []


def test_a_dry_run_needs_a_price_of_those_only_who_play(repo: Path, treadle: Command) -> None:
    config = (repo.parent / "treadle.toml").read_text().replace("price = { input = 1.0, output = 2.0 }\n", "")
    (repo.parent / "treadle.toml").write_text(config)
    found = [json.loads(treadle(*FIX, "--mode", mode, "--dry-run", "--json")[1])["usd"] for mode in ("strong", "weak")]
    assert found[0] is not None
    assert found[1] is None


def test_the_plan_is_opened_in_an_editor(repo: Path, treadle: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    words = (*FIX, "--approve-plan", "--json")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    code, _, err = treadle(*words)
    assert code == 2
    assert "$EDITOR" in err
    monkeypatch.setenv("EDITOR", "sed -i 's/calc.py/calc.py carefully/'")
    document = json.loads(treadle(*words)[1])
    assert "carefully" in document["plan"]
    for editor, said in (
        ("truncate -s 0", "nothing was implemented"),
        ("false", "ended with exit code 1"),
        ("no-such-editor", "could not be started: No such file"),
        ("'", "could not be started: No closing quotation"),
    ):
        monkeypatch.setenv("EDITOR", editor)
        code, _, err = treadle(*words)
        assert code == 2
        assert said in err


@pytest.mark.parametrize("mode", ["simple-loop", "strong", "weak"])
def test_no_plan_can_be_approved_where_there_is_none(
    repo: Path, treadle: Command, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    code, out, err = treadle(*FIX, "--approve-plan", "--mode", mode)
    assert (code, out) == (2, "")
    assert f"--mode {mode} has no plan" in err
    assert json.loads(treadle("runs", "--json")[1]) == []


@pytest.mark.parametrize("deaf_to", ["INT", "INT TERM HUP"])
async def test_an_editor_ends_with_the_work(tmp_path: Path, deaf_to: str) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ntrap '' {deaf_to}\necho $$ > {told}\nwhile :; do sleep 0.02; done\n")
    editor.chmod(0o755)
    waiting = asyncio.ensure_future(WatchedCourse(str(editor)).approve_plan("the plan"))
    pid = int(await asyncio.to_thread(told.read_text))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
