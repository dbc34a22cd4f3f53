from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.answers import exact_match, f1, normalise_text

SNIPPETS = st.sampled_from(
    [
        "\\frac",
        "\\text{",
        "}",
        "{",
        "$",
        "1",
        "3.0",
        "[-1,4]",
        "(",
        ")",
        "x=",
        "\\in",
        " ",
        "²",
        "½",
        "A",
        "ß",
        "\u0130",
        ".",
        "|",
    ]
)
ANSWERS = st.one_of(st.text(max_size=30), st.lists(SNIPPETS, max_size=8).map("".join))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("(\\dfrac{3}{4})", "\\frac34"),
        ("\\text{(C)}", "C"),
        ("6.5\\text{ cents}", "6.5"),
        ("x\\in[-1,4]", "[-1,4]"),
        ("\\text{West}", "west"),
        ("0.75", "\\frac34"),
        ("7.0", "7"),
        ("$1,045.00", "1045"),
        ("\\left( 1, 2 \\right)", "( 1, 2 )"),
        (" 'Paris'. ", "paris"),
        ("x = 5", "5"),
        ("ﬁve", "FIVE"),
        ("a\u00a0b", "a b"),
    ],
)
def test_differences_of_form_do_not_count(a: str, b: str) -> None:
    assert exact_match(a, b)
    assert exact_match(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("[-1,4]", "(-1,4)"),
        ("7.01", "7"),
        ("\\frac{3}{8}", "\\frac{3}{5}"),
        ("10²", "102"),
        ("(12,500)", "12500"),
        ("50%", "0.5"),
        ("!", "?"),
        ("", "0"),
        ("-5", "5"),
    ],
)
def test_differences_of_meaning_do(a: str, b: str) -> None:
    assert not exact_match(a, b)
    assert not exact_match(b, a)


@given(ANSWERS, ANSWERS)
def test_equality_is_reflexive_and_symmetric(a: str, b: str) -> None:
    assert exact_match(a, a)
    assert exact_match(a, b) == exact_match(b, a)


@pytest.mark.parametrize(
    "gold", ["", "\\text{no solution}", "\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "(0,\\infty)"]
)
def test_hard_golds_equal_themselves(gold: str) -> None:
    assert exact_match(gold, gold)
    assert f1(gold, [gold]) == 1


def test_normal_form() -> None:
    assert normalise_text(" **The \\text{Big}\n Apple!** ") == "the big apple"
    assert normalise_text("\\tfrac12") == "\\frac{1}{2}"


@pytest.mark.parametrize(
    ("prediction", "golds", "score"),
    [
        ("5", ["5"], 1.0),
        ("5.0", ["5"], 1.0),
        ("$1,000", ["1000"], 1.0),
        ("six", ["6"], 1.0),
        ("6", ["5"], 0.0),
        ("17 yards", ["16 yards"], 0.0),
        ("17 yards", ["17-yard", "17 yards"], 1.0),
        ("the Bears", ["Bears"], 1.0),
        ("Chicago Bears", ["Bears"], 2 / 3),
        ("Asian and Native American", ["Native American and Asian"], 1.0),
        ("B | A", ["A and B"], 1.0),
        ("yes", ["yes"], 1.0),
        ("yes and no", ["yes"], 0.0),
        ("no", ["yes"], 0.0),
        ("", ["5"], 0.0),
        ("", [""], 1.0),
        ("5", [], 0.0),
    ],
)
def test_shared_words_score(prediction: str, golds: list[str], score: float) -> None:
    assert f1(prediction, golds) == pytest.approx(score)


@given(
    st.lists(st.integers(0, 10**6), min_size=5, max_size=20, unique=True),
    st.sampled_from(["|", " | ", ", ", " or ", "\n", " "]),
)
def test_listing_every_candidate_does_not_pay(candidates: list[int], between: str) -> None:
    listing = between.join(map(str, candidates))
    assert f1(listing, [str(candidates[0])]) <= 1 / 3
    assert f1(listing, [str(candidate) for candidate in candidates]) <= 1 / 3


@given(ANSWERS, st.lists(ANSWERS, max_size=3))
def test_scores_lie_between_none_and_all(prediction: str, golds: list[str]) -> None:
    assert 0 <= f1(prediction, golds) <= 1
    assert f1(prediction, [*golds, prediction]) == 1


@pytest.mark.shared
def test_every_gold_scores_full_marks_against_itself(shared_data: Path) -> None:
    for name, field in (
        ("drop/drop", "answers"),
        ("hotpotqa/hotpotqa", "answer"),
        ("math/math", "answer"),
        ("bbh/word_sorting", "target"),
    ):
        for line in (shared_data / f"{name}.jsonl").read_text("utf-8").splitlines():
            golds = json.loads(line)[field]
            golds = [golds] if isinstance(golds, str) else golds
            assert all(f1(gold, golds) == 1 for gold in golds)
            assert all(exact_match(gold, gold) for gold in golds)
