"""Predictions in the official form."""

from __future__ import annotations

import json
from pathlib import Path

from treadle.tasks.swe_predictions import predictions, slug, write_predictions

PATCH = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"


def test_the_official_form() -> None:
    made = predictions("m", {"o__n-1": f"```diff\n{PATCH}```", "o__n-2": "", "o__n-3": "I fixed it."})
    assert made["o__n-1"] == {"model_name_or_path": "m", "instance_id": "o__n-1", "model_patch": PATCH}
    assert [made[id]["model_patch"] for id in ("o__n-2", "o__n-3")] == ["", ""]


def test_each_workflow_has_a_file_of_its_own(tmp_path: Path) -> None:
    names = [
        "single",
        "manager-worker?mode=full",
        "manager-worker?mode=full&strategy=strict",
        "../up",
        "x" * 300,
        "?",
        "!",
    ]
    files = [write_predictions(tmp_path / "run", name, {"o__n-1": PATCH}) for name in names]
    assert len(set(files)) == len(names)
    assert {file.parent for file in files} == {tmp_path / "run/preds"}
    assert files[0].name == "single.json"
    assert sorted(each.name for each in (tmp_path / "run/preds").iterdir()) == sorted(each.name for each in files)
    assert slug("manager-worker?mode=full").startswith("manager-worker-mode=full-")


def test_a_file_is_written_anew_as_a_whole(tmp_path: Path) -> None:
    write_predictions(tmp_path, "w", {"o__n-1": ""})
    file = write_predictions(tmp_path, "w", {"o__n-1": PATCH, "o__n-2": ""})
    assert json.loads(file.read_text()) == predictions("w", {"o__n-1": PATCH, "o__n-2": ""})
