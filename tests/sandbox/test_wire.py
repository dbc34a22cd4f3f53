"""What crosses between tests and a program arrives as it was; what is no message is refused and does nothing."""

from __future__ import annotations

import importlib
import math
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle.sandbox.guest

sys.path.append(str(Path(treadle.sandbox.guest.__file__).parent))
wire: Any = importlib.import_module("wire")
decode: Any = importlib.import_module("wire_decode").decode

PLUG = wire.Plug()

scalars: st.SearchStrategy[Any] = st.deferred(
    lambda: (
        st.none()
        | st.booleans()
        | st.integers()
        | st.integers(min_value=-(2**70), max_value=2**200)
        | st.floats(allow_nan=False)
        | st.complex_numbers(allow_nan=False)
        | st.text(st.characters())
        | st.binary()
        | st.decimals(allow_nan=False)
        | st.fractions()
        | st.dates()
        | st.timedeltas()
        | st.datetimes(timezones=st.just(UTC) | st.none())
    )
)
hashable: st.SearchStrategy[Any] = st.deferred(
    lambda: scalars | st.tuples(scalars, hashable) | st.frozensets(scalars, max_size=4)
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars | hashable,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.lists(inner, max_size=5).map(deque)
        | st.dictionaries(hashable, inner)
        | st.dictionaries(hashable, inner).map(OrderedDict)
        | st.sets(hashable)
    ),
    max_leaves=15,
)


def encoded(value: Any) -> bytes:
    return wire.Encoder(PLUG).encode([value])


def crossed(value: Any) -> Any:
    return decode(encoded(value), PLUG)[0][0]


def shape(value: Any) -> Any:
    """A value with the classes of all its parts."""
    kind = wire.kind_of(value)
    if isinstance(value, dict):
        pairs: Any = value.items()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return kind, [(shape(key), shape(item)) for key, item in pairs]
    if kind in (list, tuple, deque):
        return kind, [shape(item) for item in value]
    if kind in (set, frozenset):
        return kind, sorted(map(repr, map(shape, value)))
    return kind, repr(value)


@settings(max_examples=80)
@given(values)
def test_a_value_arrives_as_it_was(value: Any) -> None:
    assert shape(crossed(value)) == shape(value)


def test_a_set_in_a_set_arrives_whatever_its_order_has_become() -> None:
    for number in range(200):
        value = {frozenset({Fraction(1, 2000 + number), None, str(number)})}
        assert shape(crossed(value)) == shape(value)


@given(st.lists(st.integers()) | st.lists(st.floats()) | st.lists(st.text()))
def test_long_lists_of_one_kind_are_packed_and_arrive(items: list[Any]) -> None:
    assert repr(crossed(items * 9)) == repr(items * 9)


@pytest.mark.parametrize(
    "value",
    [
        Counter("aab"),
        defaultdict(list, {1: [2]}),
        deque([1, [2]], maxlen=5),
        bytearray(b"\x00\xff"),
        range(3, 9, 2),
        slice(1, None, "x"),
        {1: (2,)}.items(),
        {1: 2}.keys(),
        time(1, 2, 3, fold=1),
        date(2020, 2, 29),
        datetime(2020, 1, 1, tzinfo=UTC) + timedelta(microseconds=1),
        Decimal("1.50"),
        Fraction(2, 3),
        ...,
        int,
        "\ud800 is no text that UTF-8 has",
        10**5000,
    ],
    ids=lambda value: type(value).__name__,  # pyright: ignore[reportUnknownLambdaType]
)
def test_each_common_class_keeps_its_class(value: Any) -> None:
    assert type(crossed(value)) is type(value)
    assert crossed(value) == value


def test_floats_that_are_no_numbers_cross() -> None:
    nan, infinite = crossed((math.nan, -math.inf))
    assert math.isnan(nan)
    assert infinite == -math.inf


def test_shared_and_cyclic_containers_stay_so() -> None:
    inner = [1]
    first, second = crossed([inner, (inner,)])
    assert second[0] is first
    endless: list[Any] = [1]
    endless.append((endless,))
    arrived = crossed(endless)
    assert arrived[1][0] is arrived


def test_a_long_chain_needs_no_recursion() -> None:
    chain: list[Any] = []
    for _ in range(100_000):
        chain = [chain]
    length, link = 0, crossed(chain)
    while link:
        length, link = length + 1, link[0]
    assert length == 100_000


class Sly(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__

    def __int__(self) -> int:
        return 42


class SlyList(list[int]):
    def __iter__(self) -> Any:
        return iter([42])

    def __eq__(self, other: object) -> bool:
        return True


def test_of_a_subclass_only_what_it_really_is_crosses() -> None:
    number, items = crossed([Sly(1), SlyList([1, 2])])
    assert (type(number), number) == (int, 1)
    assert (type(items), items) == (list, [1, 2])


def test_what_has_no_form_is_refused_when_it_is_sent() -> None:
    with pytest.raises(wire.WireError, match="object cannot be handed over"):
        encoded(object())
    with pytest.raises(wire.WireError, match="too large"):
        wire.Encoder(PLUG, most_bytes=100).encode(["x" * 200])


@given(st.binary(max_size=200))
def test_noise_is_no_message(noise: bytes) -> None:
    with pytest.raises(wire.WireError):
        decode(b"l\x00\x01\x00\x00\x00" + b"?" + noise, PLUG)
    attempt(noise)


@settings(max_examples=80)
@given(values, st.data())
def test_a_damaged_message_does_nothing_but_say_so(value: Any, data: st.DataObject) -> None:
    message = bytearray(encoded(value))
    for _ in range(data.draw(st.integers(1, 4))):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    attempt(bytes(message))
    attempt(bytes(message[: data.draw(st.integers(0, len(message)))]))


def attempt(message: bytes) -> None:
    try:
        root, _ = decode(message, PLUG)
    except wire.WireError:
        return
    assert type(root) is list


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"", "no message"),
        (b"l\x00\xff\xff\xff\xff", "too many values"),
        (b"l\x01\xff\xff\x00\x00", "too many values"),
        (b"t\x00\x00\x00\x00\x00", "root is no list"),
        (b"l\x00\x01\x00\x00\x00r\x07\x00\x00\x00", "no message"),
        (b"l\x00\x01\x00\x00\x00r\x01\x00\x00\x00" + b"t\x00\x01\x00\x00\x00r\x01\x00\x00\x00", "too deep"),
        (b"l\x00\x01\x00\x00\x00a\x01\x00\x00\x00", "nothing has the number 1"),
        (b"l\x00\x01\x00\x00\x00s\xff\x00\x00\x00ab", "cut off"),
        (b"l\x00\x01\x00\x00\x00x\x02\x00\x00\x00s\x04\x00\x00\x00types\x04\x00\x00\x00eval", "no builtin type"),
        (b"M\x00\x02\x00\x00\x00s\x02\x00\x00\x00oss\x06\x00\x00\x00system", "unknown class os.system"),
        (b"D\x00\x01\x00\x00\x00N", "a key without a value"),
    ],
)
def test_each_impossible_message_is_refused(message: bytes, why: str) -> None:
    with pytest.raises(wire.WireError, match=why):
        decode(message, PLUG)


def test_tuples_too_deep_to_be_hashed_are_refused() -> None:
    deep: Any = ()
    for _ in range(5_000):
        deep = (deep,)
    with pytest.raises(wire.WireError, match="too deep"):
        crossed(deep)
