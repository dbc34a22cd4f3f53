"""Arena-hard: questions of one turn, in the forms in which they and the answers to them are published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from treadle.errors import UserError
from treadle.tasks.open import open_task
from treadle.tasks.reference_answers import ReferenceAnswers

SPEC = "arena-hard:questions.jsonl?answers=answers.jsonl"
UID = "328c149e"


def write(path: Path, *rows: Mapping[str, Any]) -> None:
    path.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows) + b"\n")


QUESTIONS = {
    "a plain row": {"id": UID, "category": "arena-hard-v0.1", "cluster": "Music", "prompt": "Write a melody"},
    "version 0.1": {"question_id": UID, "cluster": "Music", "turns": [{"content": "Write a melody"}]},
    "version 2": {"uid": UID, "category": "hard_prompt", "subcategory": "music", "prompt": "Write a melody"},
}
ANSWERS = {
    "plain": {"id": UID, "answer": "X:1"},
    "version 0.1": {"question_id": UID, "choices": [{"index": 0, "turns": [{"content": "X:1", "token_len": 3}]}]},
    "version 2": {
        "uid": UID,
        "model": "m",
        "messages": [{"role": "user", "content": "Write"}, {"role": "assistant", "content": {"answer": "X:1"}}],
    },
    "turns": {"uid": UID, "turns": [{"content": "X:1"}]},
    "a chat": {"uid": UID, "messages": [{"role": "assistant", "content": "<think>hm</think>X:1"}]},
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_published_forms_load_as_they_are(tmp_path: Path, question: Any, answer: Any) -> None:
    write(tmp_path / "questions.jsonl", question)
    write(tmp_path / "answers.jsonl", answer)
    (sample,) = open_task(SPEC, folder=tmp_path).samples
    assert (sample.id, sample.input, sample.further) == (UID, "Write a melody", ())
    assert sample.target == ReferenceAnswers(("X:1",))
    assert not {"prompt", "turns", "choices"} & set(sample.fields)


def test_the_topic_is_a_field_and_a_group_only_on_demand(tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", QUESTIONS["a plain row"])
    write(tmp_path / "answers.jsonl", ANSWERS["plain"])
    (sample,) = open_task(SPEC, folder=tmp_path).samples
    assert (sample.group, sample.fields["cluster"]) == (None, "Music")
    (grouped,) = open_task(f"{SPEC}&group=cluster", folder=tmp_path).samples
    assert grouped.group == "Music"


def test_without_answers_it_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"add \?answers=FILE"):
        open_task("arena-hard:questions.jsonl", folder=tmp_path)


@pytest.mark.shared
def test_the_public_prompts_open(shared_data: Path, tmp_path: Path) -> None:
    questions = shared_data / "arena_hard" / "v0.1.jsonl"
    ids = [msgspec.json.decode(line)["id"] for line in questions.read_bytes().splitlines()]
    write(tmp_path / "answers.jsonl", *({"question_id": id, "answer": f"answer to {id}"} for id in ids))
    task = open_task(f"arena-hard:{questions}?answers=answers.jsonl", folder=tmp_path)
    assert len(task.samples) == 100
    assert all(sample.target.answers == (f"answer to {sample.id}",) for sample in task.samples)
    assert len({sample.fields["cluster"] for sample in task.samples}) == 50
