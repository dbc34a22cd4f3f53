from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.choices import choice, option_letters

FORMS = [
    "({})",
    "{}",
    "{}.",
    "**{}**",
    "**({})**",
    "Answer: {}",
    "Answer: {}) foo",
    "Answer: ({}) foo",
    "**Answer: ({})**",
    "Answer: [{}]",
    "Answer: '{}'",
    "\\text{{({})}}",
    "$\\boxed{{{}}}$",
    "\\boxed{{\\text{{({})}}}}",
    "The answer is {}.",
    "The correct answer is therefore option ({}).",
    "The answer is **{}: Paris**",
    "Option {} is correct.",
    "The best choice is {}.",
    "I choose {}",
    "Let me see.\n\n{}",
    "The answer is {} because of the others",
    "Answer:\n\n{}",
    "<answer>{}</answer>",
    "<think>Answer: Z</think>{}",
    "Work it out: so ({}).",
]


@given(st.sampled_from(FORMS), st.sampled_from("ABCDEFGHIJ"))
def test_every_usual_form_of_every_letter(form: str, letter: str) -> None:
    assert choice(form.format(letter)) == letter


@given(st.sampled_from("ABCDEFGHIJ"))
def test_lower_case_counts_where_it_is_stated(letter: str) -> None:
    small = letter.lower()
    for form in ("the answer is {}", "answer: ({}) because", "Answer: {}) foo", "{}", "\\boxed{{{}}}"):
        assert choice(form.format(small)) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The answer is (A). Wait, no: the answer is (D).", "D"),
        ("Answer: A\n\nExplanation: B is wrong.", "A"),
        ("(A) is wrong. So (B).", "B"),
        ("Answer: The blue jay is the second (A)", "A"),
        ("B) foo, since A is wrong", "B"),
        ("It's B.", "B"),
        ("\\boxed{A}, but on reflection the answer is B", "B"),
        ("the answer is B, that is \\boxed{C}", "C"),
    ],
)
def test_the_last_statement_wins(reply: str, letter: str) -> None:
    assert choice(reply) == letter


@pytest.mark.parametrize(
    "reply",
    [
        "A dog is an animal.",
        "I think so",
        "I would not say so. A pity.",
        "Answer: A train leaves",
        "Answer: a matter of taste",
        "the answer is i.e. nothing",
        "The answer is not B.",
        "B or C",
        "Answer: B or C",
        "Answer: B (or C)",
        "Answer: B, or maybe option C",
        "Answer: A/B",
        "The answer is A and B",
        "A) x\nB) y\nC) z",
        "",
    ],
)
def test_articles_pronouns_hedges_and_lists_choose_nothing(reply: str) -> None:
    assert choice(reply) is None


@pytest.mark.parametrize("form", ["{}", "{}.", "Answer: {}", "The answer is {}.", "I weigh (D) first.\nAnswer: {}"])
@pytest.mark.parametrize(
    "words",
    [
        "Both A and B",
        "both (A) and (B)",
        "either A or B",
        "one of A or B",
        "neither A nor B",
        "anything but B",
        "anything but (B)",
        "B is wrong",
        "B is not right",
        "B isn't right",
        "(B) cannot be right",
        "(A) (B) (C)",
        "(A), (B), (C)",
        "(B)/(C)",
        "B C D",
    ],
)
def test_what_names_several_or_denies_one_chooses_nothing(form: str, words: str) -> None:
    assert choice(form.format(words)) is None


@pytest.mark.parametrize("reply", ["A\nB\nC\nD", "A\n\nB", "(A)\n(B)\n(C)", "- A\n- B", "Answer: none\n(B)"])
def test_lists_and_unreadable_statements_choose_nothing(reply: str) -> None:
    assert choice(reply) is None


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Vitamin C is in fruit. So A.", "A"),
        ("Vitamin C is in fruit.\nTherefore, B", "B"),
        ("A and B are wrong, so C", "C"),
        ("Neither (A) nor (B) fits, so (C).", "C"),
        ("Not A but B", "B"),
        ("Answer: definitely B", "B"),
        ("Answer: I think it is B", "B"),
        ("Answer: B, not A", "B"),
        ("A or B is correct", None),
        ("I would not choose B", None),
        ("Answer: B. It is obvious what the answer is.", "B"),
        ("Hm.\nB\nNo, rather:\nC", "C"),
    ],
)
def test_conclusions_count_before_mentions(reply: str, letter: str | None) -> None:
    assert choice(reply) == letter


def test_only_the_letters_offered_count() -> None:
    assert choice("Answer: D", "ABC") is None
    assert choice("Answer: R", "ABCDEFGHIJKLMNOPQR") == "R"
    assert choice("Answer: A", "") is None


@pytest.mark.parametrize(
    ("question", "letters"),
    [
        ("Which?\nOptions:\n(A) x\n(B) y\n(C) z", "ABC"),
        ("Which? (A) x (B) y", "AB"),
        ("A. x\nB. y", "AB"),
        ("- A) x\n- B) y\n- C) z", "ABC"),
        ("a) x\nb) y", "AB"),
        ("(A) u (B) v; now you:\n(A) x\n(B) y\n(C) z", "ABC"),
        ("A dog, see (A).", ""),
        ("", ""),
    ],
)
def test_the_options_of_a_question(question: str, letters: str) -> None:
    assert option_letters(question) == letters


@pytest.mark.shared
def test_every_target_of_the_choice_tasks_is_read_as_itself(shared_data: Path) -> None:
    for name in ("date_understanding", "logical_deduction_three_objects", "tracking_shuffled_objects_three_objects"):
        lines = (shared_data / f"bbh/{name}.jsonl").read_text("utf-8").splitlines()
        assert lines
        for row in map(json.loads, lines):
            letters = option_letters(row["input"])
            assert len(letters) >= 3
            assert f"({choice(row['target'], letters)})" == row["target"]
            assert f"({choice('So the answer is ' + row['target'] + '.', letters)})" == row["target"]
