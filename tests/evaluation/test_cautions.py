"""What is said, and what is not asked for, before a measurement: who really plays counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from treadle.errors import Caution, UserError
from treadle.evaluation.evaluate import evaluate
from treadle.ledger.budget import Budget
from treadle.ledger.session import Session
from treadle.testing.components import by_the_book
from treadle.testing.sessions import scripted_session

PRICED = """
[models.practice]
model = "simulated:llm"
[models.paid]
model = "simulated:llm?seed=4"
price = { input = 1.0, output = 2.0 }
[model_names]
"Qwen/Qwen1.5-110B-Chat" = "paid"
[roles]
strong = "practice"
"""
FILE = """{"layers": [[{"type": "generator", "model": "Qwen/Qwen1.5-110B-Chat", "samples": 2}],
                       [{"type": "fuser", "model": "NAME", "length_contorl": true}]]}"""
TASK = "simulated:llm?search=2&selection=1&test=1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "treadle.toml").write_text(PRICED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, name: str) -> str:
    (folder / "theirs.json").write_text(FILE.replace("NAME", name))
    return "archon:theirs.json"


async def test_a_model_that_nobody_plays_makes_nothing_unpriced(folder: Path) -> None:
    spec = written(folder, "Qwen/Qwen1.5-110B-Chat")
    async with Session(folder / "treadle.toml") as session:
        with pytest.warns(Caution, match="unknown key 'length_contorl' of a fuser"):
            report = await evaluate(session, [spec], TASK, budget=Budget(usd=1.0))
    assert report.rows[0].tally.total_usd
    assert report.document()["results"][0]["usd"] > 0


async def test_a_name_of_somebody_elses_file_is_told_how_to_be_mapped(folder: Path) -> None:
    async with Session(folder / "treadle.toml") as session:
        with pytest.raises(UserError, match=r"\[model_names\] \"Nobody/Knows\" = \"ALIAS\""):
            await evaluate(session, [written(folder, "Nobody/Knows")], TASK)


async def test_what_is_asked_for_is_warned_of_once_and_before_any_call() -> None:
    asked: list[str] = []

    def reply(request: object) -> str:
        asked.append("called")
        return by_the_book(request)  # pyright: ignore[reportArgumentType]

    async with scripted_session({"tiny-1b": reply}) as session:
        with pytest.warns(Caution, match="is a fuser") as said:
            await evaluate(session, ["archon:2g>f", "archon:3g>f"], TASK, limit=1, budget=Budget(calls=0))
    assert len(said) == 1
    assert not asked
