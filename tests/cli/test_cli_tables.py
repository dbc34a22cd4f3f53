"""Tables for people, rendered from documents: readable on 80 columns, safe against what models write."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console, RenderableType

from treadle.cli import search_tables, tables, trace_tree
from treadle.cli.output import clean

FAILED = {"infra": 0, "format": 0, "crash": 0, "timeout": 0, "truncated": 0, "budget": 0}


def shown(part: RenderableType, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, markup=False, highlight=False, emoji=False).print(part)
    return out.getvalue()


def row(workflow: str, score: float | None, usd: float | None = 0.01, **failed: int) -> dict[str, Any]:
    return {
        "workflow": workflow,
        "n": 200,
        "scored": 0 if score is None else 200 - failed.get("infra", 0),
        "failed": FAILED | failed,
        "score": score,
        "ci95": None if score is None else [score - 0.06, score + 0.06],
        "calls": {"logical": 200, "paid": 200, "cached": 0, "retried": 0},
        "usd": usd,
        "estimated_calls": 0,
        "per_sample": {"calls": 5.0, "usd": usd, "seconds": 1.2, "tokens": 812.3},
        "seconds": {"p50": 1.21, "p95": 3.4, "total": 33.0},
    }


def report(*rows: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {"run": "250801-101500-3f2a", "task": "gsm8k:t.jsonl", "ended_by": "done", "results": rows, **changed}


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_number_is_cut_or_broken(width: int) -> None:
    document = report(
        row("self-consistency?n=5", 0.735, 0.00012), row("debate?agents=3&rounds=2", 0.61, None, infra=12)
    )
    text = shown(tables.measured(document, width), width)
    assert max(len(line) for line in text.splitlines()) <= width
    for part in ("73.5 [67.5–79.5]", "188 of 200", "$0.00012", "unpriced", "812", "1.2 s", "3.4 s", "200 calls"):
        assert part in text
    assert "failed in debate?agents=3&rounds=2: 12 infra" in text
    assert "…" not in text.replace("input = …, output = …", "")


def test_an_early_end_is_told_with_its_remedy_and_what_to_look_at_next() -> None:
    document = report(row("single", 0.5), row("cot", None), ended_by="budget")
    text = " ".join(shown(tables.measured(document, message="the next call needs --budget-calls 6")).split())
    assert "a budget ended it; what was paid for is kept – the next call needs --budget-calls 6" in text
    assert "treadle trace 250801-101500-3f2a/single --failed" in text


def test_a_row_whose_repeats_are_not_complete_is_marked() -> None:
    partial = {"single": "1 of 3 repeats finished, 16 of 200 in repeat 2"}
    text = shown(tables.measured(report(row("single", 0.5), row("cot", 0.4)), partial=partial))
    assert text.count("200*") == 1
    assert "* single: 1 of 3 repeats finished, 16 of 200 in repeat 2" in text


def test_simulations_are_labelled() -> None:
    assert "simulated" not in shown(tables.measured(report(row("single", 0.5))))
    assert tables.SIMULATED in shown(tables.measured(report(row("single", 0.5)), simulated=True))


def test_the_noise_floor_stands_below() -> None:
    text = shown(tables.measured(report(row("single", 0.5), noise={"points": 4.2, "repeats": 5})))
    assert "differ by up to 4.2 points" in text


def test_a_comparison_gives_difference_interval_p_and_verdict() -> None:
    text = shown(
        tables.compared(
            {
                "a": "r/cot",
                "b": "r/single",
                "n": 200,
                "difference": 4.5,
                "ci95": [0.5, 8.6],
                "p_value": 0.027,
                "verdict": "better",
                "flipped": [f"q{n}" for n in range(15)],
            }
        )
    )
    assert "+4.5 [+0.5 to +8.6]" in text
    assert "p = 0.027   better" in text
    assert "15 questions: q0" in text
    assert "(3 more)" in " ".join(text.split())


def test_a_comparison_without_a_verdict_says_so() -> None:
    nothing = {"a": "r/cot", "b": "r/single", "n": 0, "difference": None, "ci95": None, "p_value": None}
    text = shown(tables.compared({**nothing, "verdict": None, "flipped": []}))
    assert "difference –" in text
    assert "no verdict" in text
    row = {"against": "overall", "workflow": "single", **nothing, "verdict": None}
    document = search_report(test={"n": 9, "opened": 1, "detectable": None, "comparisons": [row]})
    assert "no verdict" in shown(search_tables.searched(document, "t"))


def test_a_dry_run_without_price_or_bound_says_so() -> None:
    text = shown(
        tables.estimated({"calls": {"low": 200, "high": None}, "usd": None, "detectable": 9.44}, "gsm8k:t.jsonl")
    )
    assert "no bound" in text
    assert "unpriced" in text
    assert "9.4 points" in text


def search_report(**changed: Any) -> dict[str, Any]:
    fresh = {"calls": 5.0, "usd": 0.002, "seconds": 1.0, "tokens": 900.0}
    trial = {"number": 0, "workflow": "cot", "samples": 60, "score": 0.7, "stopped_at": None, "per_sample": fresh}
    return {
        "run": "250801-101500-3f2a",
        "ended_by": "done",
        "space": {"name": "workflows:cot,single", "raw": 2, "valid": 2},
        "method": "all",
        "evaluated": 2,
        "best": {"workflow": "cot", "score": 0.71, "ci95": [0.6, 0.8], "per_sample": fresh},
        "finalists": [],
        "baselines": [{"workflow": "single", "score": 0.6, "ci95": [0.5, 0.7], "per_sample": fresh}],
        "test": {
            "n": 100,
            "opened": 2,
            "detectable": 8.0,
            "comparisons": [
                {
                    "against": "equal-cost",
                    "workflow": "single",
                    "difference": 11.0,
                    "ci95": [2.0, 20.0],
                    "p_value": 0.01,
                    "verdict": "better",
                }
            ],
        },
        "ranking": None,
        "payback": None,
        "objective": {"kind": "score", "lambda": 0.0, "cost_unit": "usd"},
        "regret": None,
        "spent": {"usd": 0.5, "calls_logical": 900, "calls_paid": 700, "tokens": 12345, "seconds": 75.0},
        "history": [trial, {**trial, "workflow": "single", "score": 0.4, "samples": 12, "stopped_at": 12}],
        **changed,
    }


def test_a_search_shows_the_best_its_test_and_its_cost() -> None:
    text = shown(search_tables.searched(search_report(), "gsm8k:t.jsonl"))
    assert "best: cot  test score 71.0 [60.0–80.0] %" in text
    assert "against single (equal-cost): +11.0 points [+2.0 to +20.0]" in text
    assert "opened for the 2nd time" in text
    assert "8.0 points" in text
    assert "$0.50, 700 calls paid of 900" in text


def test_calls_that_were_cut_off_are_no_part_of_those_answered() -> None:
    spent = {"usd": None, "calls_logical": 16, "calls_paid": 20, "tokens": 5, "seconds": 1.0}
    text = " ".join(shown(search_tables.searched(search_report(spent=spent), "t")).split())
    assert "spent: 20 calls paid, 16 answered (the rest was cut off, counted at its bound)" in text


def test_a_dropped_structure_is_shown_without_its_mean() -> None:
    text = shown(search_tables.searched(search_report(), "gsm8k:t.jsonl"))
    assert "stopped at 12 questions" in text
    assert "40.0" not in text


def test_a_search_that_found_nothing_or_only_a_baseline_says_so() -> None:
    nothing = shown(search_tables.searched(search_report(best=None, baselines=[], history=[]), "t"))
    assert "nothing was found" in nothing
    itself = {"n": 9, "opened": 0, "detectable": None, "comparisons": [{"against": "itself", "workflow": "cot"}]}
    text = shown(search_tables.searched(search_report(test=itself), "t"))
    assert "the test stays closed" in " ".join(text.split())


CALL = {
    "call": "weak",
    "role": "judge",
    "draw": 2,
    "key": "k",
    "tokens": {"input": 120, "output": 30},
    "usd": 0.00002,
    "start": 0.0,
    "seconds": 0.8,
    "cached": True,
    "finish": "length",
}


def test_a_trace_shows_operators_calls_notes_and_errors_in_order() -> None:
    trace = [
        {"operator": "vote", "children": [CALL, {**CALL, "finish": "error", "error": "HTTP 500"}]},
        {"note": "tie", "between": ["4", "5"]},
    ]
    sample = {"id": "q1", "workflow": "cot", "repeat": 0, "score": 0.0, "status": "ok", "answer": "4", "trace": trace}
    text = shown(trace_tree.traced({"run": "r", "samples": [sample]}, [sample]), 100)
    order = ["r/cot", "q1  wrong  4", "vote", "judge weak draw 2  120 → 30 tokens  $0.000020  800 ms  cached  length"]
    places = [text.index(part) for part in [*order, "HTTP 500", "note tie  between: ['4', '5']"]]
    assert places == sorted(places)


def test_only_so_many_samples_are_drawn_and_the_rest_is_counted() -> None:
    samples: list[dict[str, Any]] = [
        {"id": f"q{n}", "workflow": "cot", "repeat": 0, "score": 1.0, "status": "ok", "answer": "4", "trace": []}
        for n in range(5)
    ]
    text = shown(trace_tree.traced({"run": "r", "samples": samples}, samples[:2]))
    assert "q1" in text
    assert "q2" not in text
    assert "3 samples more" in text


def test_what_a_model_writes_cannot_steer_the_terminal_or_pass_for_markup() -> None:
    evil = "\x1b[2J\x1b]0;title\x07[bold red]hello[/bold red]\u202e \x9b31m"
    assert clean(evil) == "␛[2J␛]0;title␇[bold red]hello[/bold red]\ufffd \ufffd31m"
    sample: dict[str, Any] = {
        "id": "q",
        "workflow": "w",
        "repeat": 0,
        "score": 1.0,
        "status": "ok",
        "answer": evil,
        "trace": [],
    }
    text = shown(trace_tree.traced({"run": "r", "samples": [sample]}, [sample]))
    assert "\x1b" not in text
    assert "[bold red]hello[/bold red]" in text


def test_an_answer_that_failed_says_how_and_why() -> None:
    document: dict[str, Any] = {
        "run": "r",
        "answer": " ",
        "status": "truncated",
        "ended_by": "done",
        "trace": [],
        "calls": {"logical": 1, "paid": 1, "cached": 0, "retried": 0},
        "tokens": {"input": 3, "output": 0},
        "usd": None,
        "seconds": 0.2,
    }
    assert "truncated: cut at 5 tokens" in shown(trace_tree.answered(document, "cut at 5 tokens"))
