"""What is kept of output, however long it is and however its reads fall."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.sandbox.output import Kept

LEFT_OUT = re.compile(r"… ([\d,]+) bytes left out …")
whole_texts = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\ufffd…"), max_size=60)


def kept(stream: bytes, limit: int, cuts: list[int] | None = None) -> Kept:
    """A stream that arrives in pieces."""
    keeper = Kept(limit)
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts or []), len(stream)]
    for start, end in zip(edges, edges[1:], strict=False):
        keeper.add(stream[start:end])
    return keeper


@given(st.binary(max_size=80), st.lists(st.integers(0, 80)), st.integers(80, 200))
def test_a_stream_within_the_limit_is_kept_whole(stream: bytes, cuts: list[int], limit: int) -> None:
    keeper = kept(stream, limit, cuts)
    assert keeper.text() == stream.decode(errors="replace")
    assert not keeper.truncated
    assert keeper.total == len(stream)


@given(st.binary(max_size=80), st.lists(st.integers(0, 80)), st.integers(0, 90))
def test_how_the_reads_fall_changes_nothing(stream: bytes, cuts: list[int], limit: int) -> None:
    in_pieces, at_once = kept(stream, limit, cuts), kept(stream, limit)
    assert in_pieces.text() == at_once.text()
    assert in_pieces.truncated == at_once.truncated == (len(stream) > limit)


@given(whole_texts, st.integers(0, 60))
def test_the_cut_never_makes_garbage_of_a_character(text: str, limit: int) -> None:
    keeper = kept(text.encode(), limit)
    assert "\ufffd" not in keeper.text()


@given(whole_texts, st.integers(0, 60))
def test_head_tail_and_the_number_between_them_add_up(text: str, limit: int) -> None:
    stream = text.encode()
    keeper = kept(stream, limit)
    line = LEFT_OUT.search(keeper.text())
    if len(stream) <= limit:
        assert line is None
        return
    assert line is not None
    head = keeper.text()[: line.start()].removesuffix("\n").encode()
    tail = keeper.text()[line.end() :].removeprefix("\n").encode()
    assert stream.startswith(head)
    assert stream.endswith(tail)
    assert len(head) + len(tail) + int(line[1].replace(",", "")) == len(stream)
    assert limit - 6 <= len(head) + len(tail) <= limit


@pytest.mark.parametrize("size", [1, 7, 65536])
def test_fifty_megabytes_stay_small(size: int) -> None:
    keeper = Kept(1000)
    chunk = bytes(range(256)) * 256
    for start in range(0, len(chunk) if size < 100 else 50_000_000, size):
        keeper.add(chunk[start : start + size] if size < 100 else chunk)
    parts = [getattr(keeper, slot) for slot in Kept.__slots__]
    assert sum(map(sys.getsizeof, parts)) < 10_000
    assert keeper.truncated


def test_a_character_split_over_two_reads_is_one_character() -> None:
    keeper = Kept(100)
    for byte in "漢👩é".encode():
        keeper.add(bytes([byte]))
    assert keeper.text() == "漢👩é"


def test_a_long_text_shows_both_ends() -> None:
    keeper = kept(b"start " + b"." * 12_339 + b" end!", 10)
    assert keeper.text() == "start\n… 12,340 bytes left out …\n end!"
