"""Tasks by name: the kinds of files, their options, and the words for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from treadle.errors import DatasetError, NotYetError, UnknownNameError, UserError
from treadle.models.base import Message
from treadle.tasks.open import open_task


def write(folder: Path, *rows: dict[str, Any], name: str = "rows.jsonl") -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_jsonl_rows_become_samples(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"id": 7, "input": "Capital of France?", "target": "Paris", "group": "europe", "level": 2},
        {"id": 8, "input": "Capital of Japan?", "target": "Tokyo", "group": 3},
    )
    task = open_task("jsonl:rows.jsonl", folder=tmp_path)
    first, second = task.samples
    assert (first.id, first.input, first.target, first.group, first.line) == (
        "7",
        "Capital of France?",
        "Paris",
        "europe",
        1,
    )
    assert first.fields == {"level": 2}
    assert second.group == "3"
    assert task.name == "jsonl:rows.jsonl"
    assert task.scorer.name == "exact"
    assert task.scorer.answer_format == ""


def test_fields_are_mapped_by_name(tmp_path: Path) -> None:
    write(tmp_path, {"q": "2+2?", "a": 4, "key": "k", "topic": "sums"})
    task = open_task("jsonl:rows.jsonl?input=q&target=a&id=key&group=topic", folder=tmp_path)
    sample = task.samples[0]
    assert (sample.id, sample.input, sample.target, sample.group) == ("k", "2+2?", 4, "sums")
    assert sample.fields == {}
    assert task.scorer.name == "numeric"


def test_a_chat_is_taken_as_turns(tmp_path: Path) -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    write(tmp_path, {"input": chat, "target": "Hello"})
    sample = open_task("jsonl:rows.jsonl", folder=tmp_path).samples[0]
    assert sample.input == "Hi"
    assert sample.messages == (Message("system", "Be brief."), Message("user", "Hi"))


@pytest.mark.parametrize(
    ("row", "spec", "words"),
    [
        ({"question": "x", "target": 1}, "jsonl:rows.jsonl", ["line 1", "question, target", "?input=question"]),
        ({"input": "x", "answer": 1}, "jsonl:rows.jsonl", ["line 1", "no field 'target'", "?target=answer"]),
        ({"input": 3, "target": 1}, "jsonl:rows.jsonl", ["line 1", "'input' must be text, not a number"]),
        ({"input": " ", "target": 1}, "jsonl:rows.jsonl", ["line 1", "'input' is empty"]),
        ({"input": "x", "target": ""}, "jsonl:rows.jsonl", ["line 1", "'target' is empty"]),
        ({"input": "x", "target": []}, "jsonl:rows.jsonl", ["line 1", "'target' must be text"]),
        ({"input": [], "target": 1}, "jsonl:rows.jsonl", ["line 1", "turn of the user"]),
        ({"input": [{"role": "bot"}], "target": 1}, "jsonl:rows.jsonl", ["line 1", "role (system, user, assistant)"]),
        ({"input": "x", "target": None}, "jsonl:rows.jsonl", ["line 1", "'target' is null"]),
        ({"input": "x", "target": {"a": 1}}, "jsonl:rows.jsonl", ["line 1", "'target' must be text"]),
        ({"input": "x", "target": "y", "group": []}, "jsonl:rows.jsonl", ["line 1", "group", "a list"]),
        ({"input": "x", "target": "y"}, "jsonl:rows.jsonl?scorer=numeric", ["line 1", "must be a number"]),
        ({"input": "x", "target": "yes"}, "jsonl:rows.jsonl?scorer=choice", ["line 1", "letter of an option"]),
        ({"input": "x", "target": "(a"}, "jsonl:rows.jsonl?scorer=regex", ["line 1", "no regular expression"]),
        ({"input": "x", "target": 3}, "jsonl:rows.jsonl?scorer=pairwise", ["line 1", "answer to compare with"]),
        ({"question": "x", "answer": "some"}, "gsm8k:rows.jsonl", ["line 1", "#### number"]),
        ({"problem": "x", "solution": "no box"}, "math:rows.jsonl", ["line 1", "boxed"]),
        ({"question": "x", "answer": "y", "context": [["t"]]}, "hotpotqa:rows.jsonl", ["line 1", "'context'"]),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, row: dict[str, Any], spec: str, words: list[str]) -> None:
    write(tmp_path, row)
    with pytest.raises(DatasetError) as caught:
        open_task(spec, folder=tmp_path)
    assert all(word in str(caught.value) for word in ["rows.jsonl", *words])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("gsm8:rows.jsonl", ["unknown task 'gsm8'", "gsm8k"]),
        ("json:rows.jsonl", ["unknown task", "jsonl"]),
        ("rows.jsonl", ["unknown task"]),
        ("jsonl:rows.jsonl?scorer=exct", ["unknown scorer 'exct'", "exact"]),
        ("jsonl:rows.jsonl?scorrer=exact", ["option", "'scorrer'", "scorer"]),
        ("jsonl:rows.jsonl?scorer=exact&tolerance=1", ["option", "'tolerance'"]),
        ("gsm8k:rows.jsonl?grade=official", ["option", "'grade'", "grader"]),
        ("simulated:lm", ["unknown simulation", "llm"]),
    ],
)
def test_unknown_names_are_answered_with_near_ones(tmp_path: Path, spec: str, words: list[str]) -> None:
    write(tmp_path, {"input": "x", "target": "y", "question": "x", "answer": "4"})
    with pytest.raises(UnknownNameError) as caught:
        open_task(spec, folder=tmp_path)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("jsonl:", "names no file"),
        ("jsonl:rows.jsonl?scorer", "must be written name=value"),
        ("jsonl:rows.jsonl?scorer=exact&scorer=f1", "given twice"),
        ("jsonl:rows.jsonl?scorer=numeric&tolerance=-1", "a number from 0 up"),
        ("jsonl:rows.jsonl?scorer=numeric&tolerance=nan", "a number from 0 up"),
        ("jsonl:rows.jsonl?scorer=regex&pattern=(", "no regular expression"),
        ("jsonl:rows.jsonl?scorer=choice&letters=AAB", "different letters"),
        ("gsm8k:rows.jsonl?grader=strict", "one of lenient, official"),
        ("simulated:llm?seed=x", "a whole number"),
        ("simulated:llm?seed=--5", "a whole number"),
        ("simulated:llm?seed=-5", "a whole number"),
        ("simulated:llm?seed=1-", "a whole number"),
        ("simulated:llm?seed=1_0", "a whole number"),
        (f"simulated:llm?seed={'9' * 5000}", "a whole number"),
        ("hf:name", "hf:DATASET/SPLIT"),
    ],
)
def test_options_are_read_strictly(tmp_path: Path, spec: str, words: str) -> None:
    write(tmp_path, {"input": "x", "target": "4", "question": "x", "answer": "4"})
    with pytest.raises(UserError) as caught:
        open_task(spec, folder=tmp_path)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "spec",
    [
        "miniworld",
        "appworld:train",
    ],
)
def test_later_tasks_say_so(tmp_path: Path, spec: str) -> None:
    with pytest.raises(NotYetError, match="not yet there"):
        open_task(spec, folder=tmp_path)


def test_percent_codes_and_plus_signs_in_options(tmp_path: Path) -> None:
    write(tmp_path, {"input": "x", "target": "4"})
    task = open_task(r"jsonl:rows.jsonl?scorer=regex&pattern=\[(\d+)%26\]", folder=tmp_path)
    assert task.scorer.name == r"regex?pattern=\[(\d+)&\]"


def test_a_limit_and_duplicates(tmp_path: Path) -> None:
    write(tmp_path, *({"input": f"{number}?", "target": number} for number in range(9)))
    task = open_task("jsonl:rows.jsonl", folder=tmp_path, limit=4)
    assert [sample.id for sample in task.samples] == ["1", "2", "3", "4"]
    write(tmp_path, {"id": "q1", "input": "x", "target": "1"}, {"id": "q1", "input": "x", "target": "2"})
    with pytest.raises(DatasetError, match="'q1' stands on lines 1 and 2"):
        open_task("jsonl:rows.jsonl", folder=tmp_path)


def test_gsm8k_takes_numbers_and_whole_solutions(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"question": "a", "answer": 18, "solution": "#### 18"},
        {"question": "b", "answer": "so it is <<2*600=1200>>1,200\n#### 1,200"},
    )
    task = open_task("gsm8k:rows.jsonl", folder=tmp_path)
    assert [sample.target for sample in task.samples] == ["18", "1200"]
    assert "solution" not in task.samples[0].fields
    assert task.samples[0].hidden == {"solution": "#### 18"}
    assert "Answer: <number>" in task.scorer.answer_format


def test_math_reads_the_box_of_a_solution(tmp_path: Path) -> None:
    write(tmp_path, {"problem": "a", "solution": r"so \boxed{\frac{3}{8}}.", "level": "Level 5"})
    task = open_task("math:rows.jsonl", folder=tmp_path)
    assert task.samples[0].target == r"\frac{3}{8}"
    assert task.samples[0].fields == {"level": "Level 5"}


def test_drop_groups_questions_by_passage(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"context": "Passage: P\nQuestion: one?\nAnswer:", "answers": ["1"], "completion": "1"},
        {"context": "Passage: P\nQuestion: two?\nAnswer:", "answers": ["2", "two"]},
        {"context": "Passage: Q\nQuestion: one?\nAnswer:", "answers": ["1"]},
    )
    task = open_task("drop:rows.jsonl", folder=tmp_path)
    groups = [sample.group for sample in task.samples]
    assert groups[0] == groups[1] != groups[2]
    assert task.samples[0].fields == {}
    assert task.samples[1].target == ["2", "two"]


@pytest.mark.parametrize(
    "context",
    [
        [["Rome", ["Rome is old.", " It is big."]], ["Oslo", ["Oslo is cold."]]],
        {"title": ["Rome", "Oslo"], "sentences": [["Rome is old.", " It is big."], ["Oslo is cold."]]},
        "Rome: Rome is old. It is big.\n\nOslo: Oslo is cold.",
    ],
    ids=["pairs", "columns", "text"],
)
def test_hotpotqa_puts_the_context_before_the_question(tmp_path: Path, context: Any) -> None:
    write(
        tmp_path, {"question": "Which is old?", "answer": "Rome", "context": context, "supporting_facts": [["Rome", 0]]}
    )
    sample = open_task("hotpotqa:rows.jsonl", folder=tmp_path).samples[0]
    assert sample.input == "Rome: Rome is old. It is big.\n\nOslo: Oslo is cold.\n\nQuestion: Which is old?"
    assert "supporting_facts" not in sample.fields


@pytest.mark.parametrize(
    ("targets", "scorer"),
    [
        (["(A)", "(C)", "(B)"], "choice"),
        (["8", "15", "3"], "numeric"),
        (["True", "False", "True"], "label"),
        (["apple pear", "dog emu fox", "x y"], "words"),
    ],
)
def test_bbh_is_graded_by_what_its_targets_are(tmp_path: Path, targets: list[str], scorer: str) -> None:
    write(tmp_path, *({"input": "?", "target": target} for target in targets))
    assert open_task("bbh:rows.jsonl", folder=tmp_path).scorer.name == scorer
