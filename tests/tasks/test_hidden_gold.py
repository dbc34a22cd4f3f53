"""Whatever fields a mapping names, no field that could hold the answer reaches a workflow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treadle.tasks.decorator import task
from treadle.tasks.open import as_task, open_task

GOLD = (
    "target", "answer", "answers", "solution", "label", "gold", "reference", "expected", "output", "completion",
    "final_answer", "correct_answer", "ground_truth", "Answer", "expected-output",
)  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "question"),
    [
        ("gsm8k:rows.jsonl?target=final", "question"),
        ("math:rows.jsonl?target=final", "problem"),
        ("bbh:rows.jsonl?target=final", "input"),
        ("drop:rows.jsonl?target=final", "context"),
        ("hotpotqa:rows.jsonl?target=final", "question"),
        ("jsonl:rows.jsonl?target=final", "input"),
        ("jsonl:rows.jsonl?target=final&id=key&group=topic", "input"),
    ],
)
def test_a_mapped_target_leaves_no_other_gold_public(tmp_path: Path, spec: str, question: str) -> None:
    row = {question: "2+2?", "final": "4", "key": "k", "topic": "t", "level": 3, "context": "some"}
    row.update({name: "4" for name in GOLD if name != question})
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    opened = open_task(spec, folder=tmp_path)
    fields = opened.problem(opened.samples[0]).fields
    assert not {*GOLD, "final"} & set(fields)
    assert fields["level"] == 3
    assert opened.samples[0].hidden["solution"] == "4"


@pytest.mark.parametrize("target", GOLD)
def test_every_gold_name_hides_the_others(tmp_path: Path, target: str) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"input": "2+2?", **dict.fromkeys(GOLD, "4")}) + "\n")
    opened = open_task(f"jsonl:rows.jsonl?target={target}", folder=tmp_path)
    assert opened.samples[0].target == "4"
    assert opened.samples[0].fields == {}


def test_rows_of_a_function_hide_gold_too(tmp_path: Path) -> None:
    @task
    def rows() -> list[dict[str, str]]:
        return [{"input": "2+2?", "target": "4", "solution": "2+2=4", "topic": "sums"}]

    assert as_task(rows, folder=tmp_path).samples[0].fields == {"topic": "sums"}
