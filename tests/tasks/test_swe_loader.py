"""SWE-bench's own package reads what an eval writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from treadle.tasks.swe_predictions import write_predictions

PATCH = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"


def test_the_official_loader_takes_it(tmp_path: Path) -> None:
    harness: Any = pytest.importorskip(
        "swebench.harness.utils", reason="swebench, an optional package, is not installed"
    )
    file = write_predictions(tmp_path, "manager-worker?mode=full", {"o__n-1": PATCH, "o__n-2": ""})
    loaded = harness.get_predictions_from_file(str(file), "unused", "test")
    assert [each["instance_id"] for each in loaded] == ["o__n-1", "o__n-2"]
    assert [each["model_patch"] for each in loaded] == [PATCH, ""]
