"""Lettered options: found where they can be shuffled, left alone where not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.operators.options import read_options


@pytest.mark.parametrize(
    "question",
    [
        "Which?\nOptions:\n(A) red\n(B) blue\n(C) green",
        "Which?\nA) red\nB) blue",
        "Which?\n A. red\n B. blue\n\nAnswer:",
        "Which?\nA: red\nB: blue\nAnswer with a letter.",
    ],
)
def test_options_are_read_and_put_back_as_they_stood(question: str) -> None:
    options = read_options(question)
    assert options is not None
    assert options.in_order(range(len(options.lines))) == question


@pytest.mark.parametrize(
    "question",
    [
        "Which is it, (A) red or (B) blue?",
        "Which?\n(A) red",
        "Which?\n(B) red\n(C) blue",
        "Which?\n(A) red\nand warm\n(B) blue",
        "Which?\n(A) red\n(B) blue\nand cold",
        "Which?\n(A) red\n(B) none of the above",
        "Which?\n(A) red\n(B) blue\n(C) Both A and B",
        "Which?\n(A) red\n(B) all of these",
        "Which?\n(A) red\n(B) blue\n\n(C) green",
        "",
    ],
)
def test_options_that_cannot_be_moved_without_harm_are_left_alone(question: str) -> None:
    assert read_options(question) is None


def test_only_the_last_list_is_taken() -> None:
    options = read_options("Example:\n(A) x\n(B) y\n\nNow:\n(A) red\n(B) blue")
    assert options is not None
    assert options.in_order([1, 0]) == "Example:\n(A) x\n(B) y\n\nNow:\n(A) blue\n(B) red"


@given(st.permutations(range(4)))
def test_a_letter_in_the_new_order_stands_for_the_text_that_the_order_says(order: list[int]) -> None:
    texts = ["red", "blue", "green", "pink"]
    options = read_options(
        "Which?\n" + "\n".join(f"({letter}) {text}" for letter, text in zip("ABCD", texts, strict=True))
    )
    assert options is not None
    moved = read_options(options.in_order(order))
    assert moved is not None
    for place, (_, letter, _, text) in enumerate(moved.lines):
        assert letter == options.letters[place]
        assert text == texts[order[place]]
