from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import FormatError
from treadle.parsing.json_text import MOST_NESTED, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=3)


@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_all_json_is_read_as_it_is(value: Any, indent: int | None, ascii_only: bool) -> None:
    assert read_json(json.dumps(value, indent=indent, ensure_ascii=ascii_only)) == value


@given(OBJECTS)
def test_json_is_found_in_prose_and_fences(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    assert read_json(f"As [1] says {{x}}, I get {text}. Fine?") == value
    assert read_json(f'Not {{"a": 0}} but\n```json\n{text}\n```\nas asked') == value
    assert read_json(f"```sh\nls\n```\n```\n{text}\n```") == value
    assert read_json(f'First {{"a": 0}}, then {text}') == value


@given(OBJECTS)
def test_repairs_change_no_value(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    assert read_json(f"{text[:-1]},}}") == value
    assert read_json(f'{{"in": [{text},], // the "value", {{}}\n "is": True, "none": None,}} // done') == {
        "in": [value],
        "is": True,
        "none": None,
    }


@given(OBJECTS, st.integers(1, 200), st.sampled_from(["", "```json\n", "Here it is: "]))
def test_a_cut_object_is_an_error_and_never_closed(value: dict[str, Any], cut: int, before: str) -> None:
    text = json.dumps(value)
    kept = text[: max(1, len(text) - cut)]
    with pytest.raises(FormatError):
        read_json(before + kept)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"a": [1, 2,], "s": "x,}",}', {"a": [1, 2], "s": "x,}"}),
        ('```json\n{"tip": "wrap it in ```json fences"}\n```', {"tip": "wrap it in ```json fences"}),
        ('{"url": "http://x//y", "t": "True, None"}', {"url": "http://x//y", "t": "True, None"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('```json\n{"a": 1}', {"a": 1}),
        ('[1, 2) and {"a": 1}', {"a": 1}),
        ('{"a": 1} as in [2]', {"a": 1}),
        ("only [1] and [2, 3]", [2, 3]),
        ('{bad} {"b": 1 "c": [1]} mended: {"b": 2}', {"b": 2}),
        ("7", 7),
        ("True", True),
        ('"\\u00e9"', "é"),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
    ],
)
def test_replies_with_json(reply: str, value: Any) -> None:
    found = read_json(reply)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no json here",
        '{"a": {"b": 1}, "c": ',
        '{"a": {"b": 1} "c": [1]}',
        '{"a": 1}\nand then {"b": "cu',
        '```json\n{"a": 1}\n```\n```json\n{"b": \n```',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 1.}',
        '{"a": 01}',
        '{"a": "\\q"}',
        "[,]",
        "{,}",
        "[1,,2]",
        "9" * 5000,
    ],
)
def test_what_would_have_to_be_guessed_is_an_error(reply: str) -> None:
    with pytest.raises(FormatError, match=r"no usable JSON in the reply: .+ \(line \d+, column \d+\)"):
        read_json(reply)


def test_the_error_says_where() -> None:
    with pytest.raises(FormatError, match=r'"," or "\}" is missing \(line 2, column 3\)'):
        read_json('{"a": 1\n  "b": 2}')


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_bounded(opening: str, closing: str) -> None:
    read_json(opening * MOST_NESTED + "1" + closing * MOST_NESTED)
    for depth in (MOST_NESTED + 2, 50_000):
        with pytest.raises(FormatError, match="nested deeper"):
            read_json(opening * depth + "1" + closing * depth)


@given(st.text(alphabet='{}[]",:/\\\n 1eaTrue`.-', max_size=60))
def test_what_strict_json_accepts_is_read_the_same(text: str) -> None:
    try:
        strict = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return
    assert read_json(text) == strict
