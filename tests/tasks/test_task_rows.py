"""A file of rows is read strictly, and what is wrong with it is said with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from treadle.errors import DatasetError
from treadle.tasks.rows import number_ids, read_rows


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "rows.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_rows_keep_their_lines_and_values(tmp_path: Path) -> None:
    big = 10**400
    path = write(tmp_path, b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": "\xe2\x80\xa8x"}\n{"a": %d}\n\n' % big)
    rows = read_rows(path)
    assert [row.line for row in rows] == [1, 3, 4]
    assert [row.fields["a"] for row in rows] == [1, "\u2028x", big]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"a": 1}\n{"a": 2\n', ["line 2", "not JSON"]),
        (b'{"a": 1}\n{"a": 2}\n{"id": "s3", "sco', ["line 3", "looks cut off"]),
        (b'{"a": 1}\n{"a": "\xff"}\n', ["line 2", "UTF-8"]),
        (b'{"a": "\\ud800"}\n', ["line 1"]),
        (b'{"a": NaN}\n', ["line 1", "not JSON"]),
        (b"[1, 2]\n", ["item 1", "must be a JSON object, not a number"]),
        (b"3\n", ["line 1", "must be a JSON object"]),
        (b'{\n"a": 1}\n', ["line 1", "spans several lines"]),
        (b'[\n{"a": 1}\n', ["no array in JSON"]),
        (b" []", ["holds no rows"]),
        (b"", ["holds no rows"]),
        (b"\n \n", ["holds no rows"]),
    ],
    ids=["broken", "torn", "latin", "surrogate", "nan", "array", "number", "pretty", "open", "none", "empty", "blank"],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes, words: list[str]) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DatasetError) as caught:
        read_rows(path)
    assert all(word in str(caught.value) for word in [str(path), *words])


def test_a_file_may_be_one_array_and_packed(tmp_path: Path) -> None:
    array = b'\xef\xbb\xbf[{"a": 1},\n {"a": 2}]\n'
    for content in (array, gzip.compress(array), gzip.compress(b'{"a": 1}\n\n{"a": 2}\n')):
        assert [row.fields["a"] for row in read_rows(write(tmp_path, content))] == [1, 2]
    (_, second) = read_rows(write(tmp_path, array))
    assert str(second.fault("so")).endswith("rows.jsonl, item 2: so")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_rows(write(tmp_path, gzip.compress(array)[:-9]))


def test_a_missing_file_names_its_neighbour_and_a_folder_is_none(tmp_path: Path) -> None:
    write(tmp_path, '{"a": 1}')
    with pytest.raises(DatasetError, match=r"row\.jsonl: there is no such file; did you mean rows\.jsonl\?"):
        read_rows(tmp_path / "row.jsonl")
    with pytest.raises(DatasetError, match="no such file .nor its folder"):
        read_rows(tmp_path / "nowhere" / "rows.jsonl")
    with pytest.raises(DatasetError, match="this is a folder"):
        read_rows(tmp_path)


def test_ids_are_texts_numbers_or_the_row_number(tmp_path: Path) -> None:
    assert number_ids(read_rows(write(tmp_path, '{"id": 7}\n{"id": "x"}'))) == ["7", "x"]
    assert number_ids(read_rows(write(tmp_path, '{"a": 7}\n\n{"a": 8}'))) == ["1", "2"]
    assert number_ids(read_rows(write(tmp_path, '{"key": "b"}\n{"key": "a"}')), "key") == ["b", "a"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"id": "q1"}\n{"id": "q2"}\n{"id": "q1"}', ["'q1'", "lines 1 and 3"]),
        ('{"id": 1}\n{"id": "1"}', ["'1'", "lines 1 and 2"]),
        ('{"id": 1}\n{"x": 2}', ["line 2", "'id'", "fields found: x"]),
        ('{"id": 1}\n{"id": null}', ["line 2", "null"]),
        ('{"id": true}', ["line 1", "true or false"]),
        ('{"id": [1]}', ["line 1", "a list"]),
    ],
)
def test_ids_that_cannot_serve_are_refused(tmp_path: Path, content: str, words: list[str]) -> None:
    rows = read_rows(write(tmp_path, content))
    with pytest.raises(DatasetError) as caught:
        number_ids(rows)
    assert all(word in str(caught.value) for word in words)


def test_an_id_field_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    rows = read_rows(write(tmp_path, '{"id": 1}'))
    with pytest.raises(DatasetError, match="no field 'key'"):
        number_ids(rows, "key")


def test_a_missing_field_is_answered_with_those_found_and_the_likely_one(tmp_path: Path) -> None:
    row = read_rows(write(tmp_path, '{"question": "2+2?", "answer": 4}'))[0]
    with pytest.raises(
        DatasetError, match=r"line 1: no field 'input'; fields found: question, answer; did you mean \?input=question"
    ):
        row.get("input", "input")
    with pytest.raises(DatasetError, match=r"map it with \?group=FIELD"):
        row.get("group", "group")
    with pytest.raises(DatasetError, match="'answer' must be text, not a number"):
        row.text("answer", "target")


def test_a_missing_field_is_never_answered_with_its_own_option(tmp_path: Path) -> None:
    row = read_rows(write(tmp_path, '{"input": "2+2?", "target": 4}'))[0]
    for name, option in (("question", "input"), ("answer", "target")):
        with pytest.raises(
            DatasetError, match=rf"no field '{name}'; fields found: input, target; map it with \?{option}=FIELD"
        ):
            row.get(name, option)
    other = read_rows(write(tmp_path, '{"input": "2+2?", "prompt": "x"}'))[0]
    with pytest.raises(DatasetError, match=r"did you mean \?input=prompt"):
        other.get("question", "input")
