from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.critiques import critiques

LINES = [
    "It cites [1] and [2].",
    "[2]",
    "[1] is a source",
    "Its strength is that it is short; no weakness.",
    "The text holds </critique_1> in the middle, and <critique_2> as well",
    "Candidate 2: is quoted here",
    "1. first",
    "### 2",
    "Answer: 7",
    "<candidate_2>",
]
BODIES = st.lists(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=4).map(
        lambda lines: "\n".join(["Strengths: clear.", *lines])
    ),
    min_size=1,
    max_size=5,
)


@given(BODIES, st.booleans(), st.sampled_from(["", "Here they are.\n\n", "<think><critique_1>x</critique_1></think>"]))
def test_blocks_are_read_as_they_were_written_whatever_stands_in_them(
    bodies: list[str], close: bool, before: str
) -> None:
    blocks = [
        f"<critique_{number}>\n{body}\n" + (f"</critique_{number}>\n" if close else "")
        for number, body in enumerate(bodies, 1)
    ]
    assert critiques(before + "".join(blocks), len(bodies)) == dict(enumerate(bodies, 1))


@given(BODIES, st.booleans())
def test_json_by_number_and_by_place_is_understood(bodies: list[str], listed: bool) -> None:
    value = {"critiques": bodies} if listed else {f"critique_{n}": body for n, body in enumerate(bodies, 1)}
    reply = msgspec.json.encode(value).decode()
    assert critiques(f"```json\n{reply}\n```", len(bodies)) == dict(enumerate(bodies, 1))


def test_a_block_quoted_within_a_block_is_no_critique() -> None:
    reply = (
        "<critique_1>\nStrengths: none\nIt says of itself:\n<critique_2>\nStrengths: perfect\n</critique_2>\n"
        "Weaknesses: it flatters.\n</critique_1>\n<critique_2>\nStrengths: sound\nWeaknesses: none\n</critique_2>"
    )
    read = critiques(reply, 2)
    assert read[2] == "Strengths: sound\nWeaknesses: none"
    assert read[1].endswith("it flatters.")


def test_all_on_one_line_is_read_too() -> None:
    reply = "<critique_1>Strengths: a Weaknesses: b</critique_1> <critique_2>Strengths: c</critique_2>"
    assert critiques(reply, 2) == {1: "Strengths: a Weaknesses: b", 2: "Strengths: c"}


@pytest.mark.parametrize(
    "heading",
    [
        "Candidate {}:\n",
        "**Candidate {}**\n\n",
        "### {}\n",
        "### Candidate {}\n",
        "[{}]\n",
        "[{}] ",
        "{}. ",
        "Critique of candidate {}:\n",
    ],
)
@pytest.mark.parametrize("bold", ["", "**"])
def test_headings_that_strengths_follow_part_a_reply(heading: str, bold: str) -> None:
    body = f"{bold}Strengths:{bold} cites [1].\n[2] shows it, and 2 lines more.\n1. one\n{bold}Weaknesses:{bold} none"
    reply = "Here:\n" + "\n---\n".join(heading.format(number) + body for number in (1, 2, 3))
    assert critiques(reply, 3) == {1: body, 2: body, 3: body}


@pytest.mark.parametrize(
    ("reply", "count", "numbers"),
    [
        ("<critique_1>\nStrengths: ...\nWeaknesses: ...\n</critique_1>", 1, set[int]()),
        ("<critique_1></critique_1>\n<critique_2>fine</critique_2>", 2, {2}),
        ("<critique_1>fine</critique_1>\n<critique_3>who?</critique_3>", 2, {1}),
        ("Strengths: fine\nWeaknesses: none", 1, {1}),
        ("Strengths: fine\nWeaknesses: none", 2, set[int]()),
        ("All of them have their strength; [1] is best.", 2, set[int]()),
        ('{"critiques": ["a", "b"]}', 3, set[int]()),
        ('[{"candidate": 2, "strengths": ["short", "clear"], "weaknesses": "wrong"}]', 3, {2}),
        ("[1]\nStrengths: x\n[2]\nStrengths: y", 2, {1, 2}),
        ("<think>\n<critique_1>x</critique_1>", 1, set[int]()),
        ("", 1, set[int]()),
    ],
)
def test_what_is_there_is_read_and_nothing_else(reply: str, count: int, numbers: set[int]) -> None:
    assert set(critiques(reply, count)) == numbers


def test_of_two_critiques_of_one_candidate_the_last_counts() -> None:
    reply = "<critique_1>draft</critique_1>\nBetter:\n<critique_1>final</critique_1>"
    assert critiques(reply, 1) == {1: "final"}


@given(st.text(max_size=150), st.integers(1, 4))
def test_only_candidates_that_were_shown_get_a_critique(reply: str, count: int) -> None:
    for text in (reply, f"<critique_1>{reply}", f"Candidate 2:\nStrengths: {reply}"):
        read = critiques(text, count)
        assert set(read) <= set(range(1, count + 1))
        assert all(read.values())
