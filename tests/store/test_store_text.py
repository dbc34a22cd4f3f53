from __future__ import annotations

import base64
import json
import math
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treadle.errors import UserError
from treadle.ledger.problem import Problem
from treadle.models.base import Completion, Message, Usage
from treadle.store.text import canonical, decode, encode, restored, storable

any_text = st.text(st.characters(codec=None)) | st.text(st.sampled_from("a\x00\x1a\ud83d\ude00d83\U0001f600"))
json_text = any_text.filter(lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text))
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | json_text,
    lambda inner: st.lists(inner) | st.dictionaries(json_text, inner),
    max_leaves=12,
)


@given(plain_values)
def test_every_plain_value_comes_back_from_strict_json(value: Any) -> None:
    data = encode(value)
    assert decode(data) == value
    assert decode(canonical(value)) == value
    data.decode("utf-8", errors="strict")
    assert json.loads(data) == value


@given(st.dictionaries(json_text, plain_values))
def test_canonical_json_does_not_know_the_order_of_keys(value: dict[str, Any]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical(value) == canonical(turned)


@given(plain_values, plain_values)
def test_values_of_different_json_have_different_addresses(a: Any, b: Any) -> None:
    assert (canonical(a) == canonical(b)) is (json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True))


@given(any_text)
@example("é and what looks escaped: \x1ad83d")
@example("plain and what looks escaped: \x1ad83d")
def test_every_text_is_stored_as_valid_utf8_without_nul_and_comes_back(text: str) -> None:
    kept = storable(text)
    assert b"\x00" not in kept.encode("utf-8", errors="strict")
    assert restored(kept) == text


@given(any_text, any_text)
def test_different_texts_are_stored_differently(a: str, b: str) -> None:
    assert (storable(a) == storable(b)) is (a == b)


def test_an_ordinary_text_is_stored_as_it_is() -> None:
    for text in ("", "plain", "漢字 👩‍👩‍👧\n\u2028"):
        assert storable(text) is text


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (math.nan, "NaN"),
        (-math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (b"\x00\xff", base64.b64encode(b"\x00\xff").decode()),
        (bytearray(b"ab"), "YWI="),
        ((1, 2), [1, 2]),
        (Problem("2 + 2?", id="q1"), "2 + 2?"),
        (MappingProxyType({"a": None}), {"a": None}),
    ],
)
def test_what_json_has_no_form_for_is_replaced_by_rule(value: Any, kept: Any) -> None:
    assert decode(encode(value)) == kept
    nested = {"deep": [{"value": value, "beside": "\ud83d", "nothing": None}]}
    assert decode(canonical(nested)) == {"deep": [{"value": kept, "beside": "\ud83d", "nothing": None}]}


def test_two_halves_side_by_side_become_their_character_in_json_but_not_in_a_column() -> None:
    halves = "\ud83d" + "\ude00"
    assert decode(encode(halves)) == "\U0001f600"
    assert restored(storable(halves)) == halves != "\U0001f600"


def test_numbers_that_are_none_do_not_share_an_address_with_null() -> None:
    addresses = {canonical({"x": value}) for value in (None, math.nan, math.inf, -math.inf, 0.0)}
    assert len(addresses) == 5


@pytest.mark.parametrize("text", ["4", "half \ud83d", "{null}"])
@pytest.mark.parametrize("seconds", [0.5, math.inf, -math.inf])
def test_a_dataclass_comes_back_as_one(text: str, seconds: float) -> None:
    completion = Completion(text, Usage(3, output=4), "length", seconds=seconds, parsed={"a": [1, None]})
    assert decode(encode(completion), Completion) == completion
    assert decode(encode([Message("user", text)]), list[Message]) == [Message("user", text)]


def test_a_dataclass_with_nan_comes_back_with_nan() -> None:
    @dataclass
    class Point:
        x: float
        name: str | None

    for name in ("null", "NaN", "\udfff", None):
        read = decode(encode(Point(math.nan, name)), Point)
        assert math.isnan(read.x)
        assert read.name == name


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"NaN",
        b"[Infinity]",
        b'{"a":1} {"b":2}',
        b"\xef\xbb\xbf{}",
        b'"\xff"',
        b'"\xed\xa0\xbd"',
        b"1e999",
        b"'a'",
        b"{a:1}",
        b"[1,]",
        b'"line\nbreak"',
        b"[" * 100_000,
        b'["\\ud83d", NaN]',
        b'["\\ud83d", 1e999]',
        b'["\\ud83d", "\xff"]',
        b'["\\ud83d"',
        b'"\\ud83d"' + b"[" * 100_000,
        "{}".encode("utf-16"),
    ],
)
def test_what_is_not_strict_json_is_refused(data: bytes) -> None:
    with pytest.raises(UserError, match="strict JSON"):
        decode(data)


@pytest.mark.parametrize("data", [b'{"text":5}', b"{}", b"[]", b'{"text":"\\ud83d","seconds":"fast"}'])
def test_json_of_another_type_is_refused(data: bytes) -> None:
    with pytest.raises(UserError, match="strict JSON"):
        decode(data, Completion)


def test_a_value_without_a_form_in_json_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in (object(), {"a": {None: 1}}, [len], endless, ["\ud83d", object()]):
        with pytest.raises(UserError, match="kept as JSON"):
            encode(value)
