from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.verdicts import correctness, judgement, rating, verdict

WORDS = ("APPROVE", "REVISE")


@given(
    st.sampled_from(WORDS),
    st.sampled_from(["", "- ", "* ", "> ", "1. ", "2) ", "## ", "**", "- **", "1. **", "   ", "`"]),
    st.sampled_from(["", ".", ": because", "**", " the patch", "\nREVISE", "\nAPPROVE"]),
    st.sampled_from(["", "It looks fine.\n", "I could APPROVE or not.\n\n", "<think>\nREVISE\n</think>\n"]),
)
def test_a_word_at_the_start_of_a_line_is_the_verdict(word: str, mark: str, after: str, before: str) -> None:
    assert verdict(f"{before}{mark}{word}{after}", WORDS) == word


@pytest.mark.parametrize(
    "reply",
    ["", "APPROVED", "I APPROVE", "Approve it now", "APPROVE or REVISE?", "**APPROVE** / **REVISE**", "APPROVE-ish"],
)
def test_what_only_looks_like_a_verdict(reply: str) -> None:
    assert verdict(reply, WORDS) is None


def test_letter_case_is_forgiven_where_the_word_stands_alone() -> None:
    assert verdict("Approve.", WORDS) == "APPROVE"
    assert verdict("**revise**: tests fail", WORDS) == "REVISE"


def test_words_may_end_in_a_colon() -> None:
    assert verdict("- TASK: read the parser", ("TASK:", "READY")) == "TASK:"
    assert verdict("TASKS: none\nREADY", ("TASK:", "READY")) == "READY"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("[[A]]", "A"),
        ("I prefer [[b]].", "B"),
        ("[[C]]", "tie"),
        ("[[A>>B]]", "A"),
        ("[[B>A]]", "B"),
        ("[[A<B]]", "B"),
        ("[[A=B]]", "tie"),
        ("Winner: A", "A"),
        ("**Winner:** Response B", "B"),
        ("Verdict: tie", "tie"),
        ("Verdict: a tie", "tie"),
        ("The winner is: Assistant A.", "A"),
        ("Better response: B", "B"),
        ("Overall, Response A is better.", "A"),
        ("B", "B"),
        ("Tie.", "tie"),
        ("<think>[[B]]</think>[[A]]", "A"),
        ("[[A]] ... so [[A]]", "A"),
        ("[[A]] or [[B]]", None),
        ("[[A]]\nWinner: B", None),
        ("Winner: A\nWinner: tie", None),
        ("[[A>A]]", None),
        ("Verdict: A's style is weak", None),
        ("both are long", None),
        ("", None),
    ],
)
def test_pairwise_judgements(reply: str, said: str | None) -> None:
    assert judgement(reply) == said


@given(st.floats(1, 10).map(lambda mark: round(mark, 1)))
def test_any_mark_in_any_form(mark: float) -> None:
    for form in (
        "[[{}]]",
        "Rating: [[{}]]",
        "Score: {}/10",
        "**Score:** {}",
        "{}",
        "{}/10",
        "Rating (1-10): {}",
        "Its score is {} out of 10.",
    ):
        assert rating(form.format(mark), 1, 10) == mark


@pytest.mark.parametrize(
    ("reply", "mark"),
    [
        ("[[3]], on balance [[4]]", 4),
        ("Style score: 3\nOverall score: 8", 8),
        ("<think>Score: 2</think>Score: 5", 5),
        ("Score: 11", None),
        ("[[4]] then [[40]]", None),
        ("Score: 70/100", None),
        ("Rating: 7-8", None),
        ("I saw 7 dogs", None),
        ("[[" + "9" * 400 + "]]", None),
        ("", None),
    ],
)
def test_the_last_mark_counts_and_must_fit(reply: str, mark: float | None) -> None:
    assert rating(reply, 1, 10) == mark


def test_marks_may_be_negative() -> None:
    assert rating("Score: -1", -2, 2) == -1


@pytest.mark.parametrize(
    ("reply", "correct"),
    [
        ("Verdict: correct", True),
        ("Step 2 is incorrect.\n**Verdict: correct**", True),
        ("**Verdict:** Incorrect.", False),
        ("Final verdict: [incorrect]", False),
        ("My verdict is wrong, since 2 + 2 is 4", False),
        ("Verdict: not correct", False),
        ("Verdict: correct\nNo, wait.\nVerdict: incorrect", False),
        ("It all adds up.\n\nCorrect.", True),
        ("<think>Verdict: incorrect</think>Verdict: correct", True),
        ("Verdict: correct or incorrect", None),
        ("Verdict: correct/incorrect", None),
        ("Verdict: partly correct", None),
        ("Verdict: correctness is hard to judge", None),
        ("The verdict: correct", True),
        ("It is correct that I have no verdict", None),
        ("<think>Verdict: correct", None),
        ("", None),
    ],
)
def test_whether_a_verifier_finds_an_answer_correct(reply: str, correct: bool | None) -> None:
    assert correctness(reply) is correct
