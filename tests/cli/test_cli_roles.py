"""Who spent what, and the claim in words, on screens of every width."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from treadle.cli.role_tables import claims, predictions, spending, who_spent

Command = Callable[..., tuple[int, str, str]]
SUMS = ("--task", "jsonl:sums.jsonl")
PAIR = """\
import treadle


@treadle.workflow
async def pair(problem, run):
    plan = await run.ask(f"Plan: {problem}", role="manager")
    return (await run.ask(f"{plan.text[:0]}{problem}", role="worker")).text
"""
MODES = ("strong", "full", "simple-loop", "weak", "weak-weak")


def role(model: str, tokens: float, usd: float | None = 0.012) -> dict[str, Any]:
    return {"models": [model], "per_sample": {"calls": 4.0, "usd": usd, "seconds": 3.0, "tokens": tokens}}


def row(mode: str, labels: dict[str, int] | None = None, **roles: dict[str, Any]) -> dict[str, Any]:
    tokens = sum(role["per_sample"]["tokens"] for role in roles.values())
    document = {"workflow": f"manager-worker?mode={mode}", "per_sample": {"tokens": tokens, "usd": None}}
    return document | ({"roles": roles} if roles else {}) | ({"labels": labels} if labels else {})


ROWS = (
    row("strong", manager=role("claude-opus", 30_012)),
    row("full", {"empty patch": 2}, manager=role("claude-opus", 6_600), worker=role("gpt-mini", 59_400, None)),
    row("simple-loop", worker=role("gpt-mini", 40_000), manager=role("claude-opus", 5_100)),
    row("weak", {"empty patch": 8}, worker=role("gpt-mini", 44_000)),
    row("weak-weak", manager=role("gpt-mini", 9_000), worker=role("gpt-mini", 66_000)),
)


def claim(verdict: str | None, **changed: Any) -> dict[str, Any]:
    tokens = {"models": ["big"], "per_sample": 6600.0, "against": 30000.0, "share": 0.22, "ci95": [0.191, 0.256]}
    return {
        "workflow": "manager-worker?mode=full",
        "against": "manager-worker?mode=strong",
        "n": 50,
        "difference": 1.3,
        "ci95": [-0.4, 3.1],
        "p_value": 0.4,
        "margin": 2.0,
        "verdict": verdict,
        "needed": None,
        "strong_tokens": tokens | changed.pop("tokens", {}),
    } | changed


def shown(part: Any, width: int = 200) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, markup=False, highlight=False).print(part, crop=False)
    return out.getvalue()


def said(*found: dict[str, Any]) -> str:
    return " ".join(shown(claims({"claims": found})).split())


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_every_role_has_its_line_within_the_screen(width: int) -> None:
    text = shown(who_spent(ROWS), width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    words = text.split()
    for tokens in ("30,012", "6,600", "59,400", "40,000", "44,000", "66,000"):
        assert words.count(tokens) == 1
    assert "90.0" in words, "the worker's share of 66,000 tokens"
    assert "unpriced" in words


def test_kinds_of_answers_have_a_column_and_none_is_0() -> None:
    lines = [line.split() for line in shown(who_spent(ROWS)).splitlines()]
    counts = {line[0].partition("=")[2]: line[1] for line in lines if line and line[0].startswith("manager-worker")}
    assert counts == {"strong": "0", "full": "2", "simple-loop": "0", "weak": "8", "weak-weak": "0"}


def test_roles_stand_in_one_order_in_every_row() -> None:
    words = [word for word in shown(who_spent(ROWS)).split() if word in ("manager", "worker")]
    assert words == ["manager", "manager", "worker", "manager", "worker", "worker", "manager", "worker"]


def test_kinds_of_answers_are_shown_without_any_role() -> None:
    bare = row("x", {"empty patch": 3}) | {"per_sample": {"tokens": 120.0, "usd": 0.01}}
    text = shown(who_spent([bare]))
    assert "3" in text.split()
    assert "120" in text.split()


def test_roles_of_a_single_model_are_no_table() -> None:
    assert who_spent([row("weak-weak", manager=role("m", 1), worker=role("m", 2))]) is None
    assert who_spent([{"workflow": "single", "per_sample": {"tokens": 1.0, "usd": None}}]) is None
    assert spending({"results": []}) is None


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("better", "better than the strong model alone (+1.3"),
        ("worse", "worse than the strong model alone (+1.3"),
        ("not worse", "not worse than the strong model alone within 2 points (+1.3 [-0.4, +3.1], n=50)"),
        ("no difference", "no difference from the strong model alone within 2 points (+1.3"),
        (None, "no verdict against the strong model alone (+1.3"),
    ],
)
def test_the_claim_is_said_in_words(verdict: str | None, words: str) -> None:
    text = said(claim(verdict))
    assert f"manager-worker?mode=full: {words}" in text
    assert text.endswith("at 0.22 [0.19, 0.26] of its strong tokens")


def test_an_inconclusive_claim_says_so_and_how_many_questions_would_tell() -> None:
    text = said(claim("inconclusive", needed=6135, margin=1.0))
    assert "inconclusive against the strong model alone within 1 point (" in text
    assert "about 6,200 questions would tell, if both are equally good" in text
    assert "more questions are needed" in said(claim("inconclusive"))


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ({"share": 0.0, "ci95": [0.0, 0.0]}, ", at none of its strong tokens"),
        ({"share": 0.004, "ci95": None}, ", at 0.004 of its strong tokens"),
        ({"share": None, "ci95": None}, "n=50)"),
    ],
)
def test_a_share_is_said_as_far_as_it_is_known(tokens: dict[str, Any], words: str) -> None:
    assert said(claim("worse", tokens=tokens)).endswith(words)


def test_long_names_and_many_claims_stay_within_the_screen() -> None:
    found = [claim("inconclusive", needed=123_456, workflow=f"manager-worker?mode={mode}&rounds=2") for mode in MODES]
    text = shown(claims({"claims": found}), 80)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert text.count("130,000 questions") == len(MODES)


def test_files_are_named_from_here(tmp_path: Path) -> None:
    document = {"predictions": {"a": str(tmp_path / "runs" / "a.json"), "b": "/elsewhere/b.json"}}
    text = shown(predictions(document, tmp_path), 20)
    assert "runs/a.json" in text.splitlines()
    assert "/elsewhere/b.json" in text.splitlines()


def test_two_models_in_two_roles_are_told_apart_below_the_table(treadle: Command, place: Path) -> None:
    (place / "mine.py").write_text(PAIR)
    with (place / "treadle.toml").open("a") as config:
        config.write('[models.other]\nmodel = "scripted:adder.py"\n')
    asked = ("eval", "mine:pair", *SUMS, "--model", "adder", "--role", "manager=adder", "--role", "worker=other")
    code, out, _ = treadle(*asked, "--json")
    roles = json.loads(out)["results"][0]["roles"]
    assert code == 0
    assert (roles["manager"]["models"], roles["worker"]["models"]) == (["adder"], ["other"])
    assert roles["manager"]["usd"] == pytest.approx(12 * 20e-6)
    assert roles["worker"]["usd"] is None
    code, out, _ = treadle(*asked)
    assert (code, "who spent what" in out, out.split().count("50.0")) == (0, True, 2)


def test_a_margin_needs_something_to_hold_against(treadle: Command) -> None:
    asked = (*SUMS, "--model", "adder", "--margin", "3")
    code, _, err = treadle("eval", "single", *asked)
    assert (code, "needs --against" in err, "mode=strong" in err) == (2, True, True)
    code, _, err = treadle("eval", "manager-worker?mode=strong", *asked)
    assert (code, "needs --against" in err) == (2, True)
    code, _, err = treadle("eval", "manager-worker?mode=strong,manager-worker", *asked)
    assert (code, "needs --against" in err, "repository" in err) == (2, False, True)
    code, _, err = treadle("eval", "manager-worker?mode=strong,manager-worker", *asked, "--fail-if", "worse")
    assert (code, "needs --against" in err) == (2, True)
