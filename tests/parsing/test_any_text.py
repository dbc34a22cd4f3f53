"""Whatever a model writes, reading it never fails and never takes long."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import FormatError
from treadle.parsing.answers import exact_match, f1, normalise_text
from treadle.parsing.boxed import all_boxed, boxed
from treadle.parsing.choices import choice, option_letters
from treadle.parsing.critiques import critiques
from treadle.parsing.fences import blocks, code
from treadle.parsing.final_answer import final_answer
from treadle.parsing.json_text import read_json
from treadle.parsing.numbers import first_number, gsm8k_answer, gsm8k_official, last_number, to_number
from treadle.parsing.rankings import ranking
from treadle.parsing.statements import listed, outcomes
from treadle.parsing.thinking import without_thinking
from treadle.parsing.verdicts import correctness, judgement, rating, verdict


def _json(text: str) -> None:
    with contextlib.suppress(FormatError):
        read_json(text)


READERS: dict[str, Callable[[str], object]] = {
    "all_boxed": all_boxed,
    "blocks": blocks,
    "boxed": boxed,
    "choice": choice,
    "code": lambda text: code(text, "solve"),
    "correctness": correctness,
    "critiques": lambda text: critiques(text, 3),
    "exact_match": lambda text: exact_match(text, text + "?"),
    "f1": lambda text: f1(text, ["5 and b", "a|b"]),
    "final_answer": final_answer,
    "first_number": first_number,
    "gsm8k_answer": gsm8k_answer,
    "gsm8k_official": gsm8k_official,
    "judgement": judgement,
    "last_number": last_number,
    "listed": listed,
    "normalise_text": normalise_text,
    "option_letters": option_letters,
    "outcomes": lambda text: outcomes(text, 5),
    "ranking": lambda text: ranking(text, 5),
    "rating": lambda text: rating(text, 1, 10),
    "read_json": _json,
    "to_number": to_number,
    "verdict": lambda text: verdict(text, ("APPROVE", "REVISE")),
    "without_thinking": without_thinking,
}

PIECES = [
    "1", "12,500", ",", "$", "-", ".", "e9", "\\times 10^", "{,}", "\\!", "%", "(", ")", "[", "]", "[[", "]]", "{", "}",
    "\\{", "\\boxed", "\\boxed{", "\\frac", "\\text{", '"', ":", "```", "````", "~~~", "json", "py", "\n", "\r", " ",
    "\t", "<think>", "</think>", "<answer>", "Answer", "the answer is", "####", "**", "A", "B", "not", "or", "I",
    "Winner: ", "score", "/10", "APPROVE", "REVISE", "def solve():", "\x00", "\ud800", "\u2212", "½",
    "²", "|", "and", "//", "None", "Ranking: ", ">", "<critique_1>", "</critique_1>", "Strengths:", "Candidate 1:",
    "1: ", "pass", "Verdict: ", "correct",
]  # fmt: skip

ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=200),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join),
)


@given(ANY_TEXT)
def test_every_reader_takes_every_text(text: str) -> None:
    for read in READERS.values():
        read(text)


@pytest.mark.parametrize("name", READERS)
def test_long_and_hostile_replies_take_no_time(name: str) -> None:
    read = READERS[name]
    units = [
        *PIECES,
        "1,234,",
        "1. ",
        "(A)",
        "A) ",
        "Answer:\n",
        "####\n",
        "Ranking:\n",
        "1. 1\n",
        "<critique_1>\n",
        "Candidate 1:\nStrengths:\n",
        '{"a":',
        "[1,",
        "{x",
        "#",
        "*",
        "a=",
        "0" * 50,
    ]
    started = time.process_time()
    for unit in units:
        read(unit * (12_000 // len(unit)))
        read(f"Answer: {unit * (12_000 // len(unit))}x")
    assert time.process_time() - started < 6


def test_a_reply_of_a_hundred_kilobytes_is_read_in_a_moment() -> None:
    text = "First 12,500 apples (A) cost $3 each; {x} is \\frac{1}{2}. The answer is B.\n" * 1300 + "Answer: 7"
    started = time.process_time()
    for read in READERS.values():
        read(text)
    assert time.process_time() - started < 10
