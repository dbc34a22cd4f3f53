"""Sets in the formats of the hub, read from disk."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, cast

import pytest

from treadle.errors import DatasetError, UnknownNameError
from treadle.tasks.open import open_task

pytest.importorskip("datasets", reason="the hub part is not installed")

ROWS = [{"question": f"{number}+1?", "answer": number + 1, "score": float("nan")} for number in range(4)]

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    return tmp_path


def test_a_parquet_file(folder: Path) -> None:
    import datasets

    cast(Any, datasets).Dataset.from_list(ROWS).to_parquet(folder / "sums.parquet")
    task = open_task("hf:sums.parquet/test?input=question&target=answer", folder=folder)
    assert [(sample.id, sample.input, sample.target) for sample in task.samples][:2] == [
        ("1", "0+1?", 1),
        ("2", "1+1?", 2),
    ]
    assert task.scorer.name == "numeric"


def test_a_folder_with_splits(folder: Path) -> None:
    home = folder / "sums"
    home.mkdir()
    for split, rows in (("train", ROWS[:1]), ("test", ROWS[1:])):
        with (home / f"{split}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, ["question", "answer"], extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
    task = open_task("hf:sums/test?input=question&target=answer&scorer=numeric", folder=folder)
    assert [sample.target for sample in task.samples] == [2, 3, 4]
    with pytest.raises(DatasetError, match="hf:sums/validation cannot be loaded"):
        open_task("hf:sums/validation?input=question&target=answer", folder=folder)


def test_what_is_wrong_is_said(folder: Path) -> None:
    (folder / "rows.jsonl").write_text("".join(json.dumps({"question": "a", "answer": "b"}) + "\n" for _ in range(2)))
    with pytest.raises(DatasetError, match=r"row 1: no field 'input'; fields found: question, answer"):
        open_task("hf:rows.jsonl/train", folder=folder)
    with pytest.raises(UnknownNameError, match="'inputs'"):
        open_task("hf:rows.jsonl/train?inputs=question&input=question&target=answer", folder=folder)
    (folder / "rows.txt").write_text("a")
    with pytest.raises(DatasetError, match=r"known files are \.parquet"):
        open_task("hf:rows.txt/train", folder=folder)
