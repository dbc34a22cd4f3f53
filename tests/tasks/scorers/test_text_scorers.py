"""Scorers that compare texts: exact, contains, F1, labels, words, letters."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.ledger.run import Run
from treadle.tasks.base import Sample, Score, Scorer
from treadle.tasks.scorers.choice import ChoiceScorer
from treadle.tasks.scorers.contains import ContainsScorer
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.scorers.f1 import F1Scorer
from treadle.tasks.scorers.gsm8k import Gsm8kScorer, OfficialGsm8kScorer
from treadle.tasks.scorers.label import LabelScorer
from treadle.tasks.scorers.numeric import NumericScorer
from treadle.tasks.scorers.words import WordsScorer

NO_RUN = cast(Run, None)
OPTIONS = "Which?\nOptions:\n(A) Rome\n(B) Oslo\n(C) Bern"

SCORERS: tuple[Scorer, ...] = (
    ExactScorer(),
    ContainsScorer(),
    F1Scorer(),
    LabelScorer(("True", "False")),
    WordsScorer(),
    ChoiceScorer(),
    NumericScorer(),
    NumericScorer(0.5),
    Gsm8kScorer(),
    OfficialGsm8kScorer(),
)


async def grade(scorer: Scorer, target: Any, reply: str, question: str = "?") -> Score:
    return await scorer.score(Sample("q", question, target), reply, NO_RUN)


@pytest.mark.parametrize(
    ("target", "reply", "value"),
    [
        ("Paris", "Paris", 1),
        ("Paris", "I think so.\n**Answer:** paris.", 1),
        ("Paris", "<think>Rome? no.</think>\nParis", 1),
        ("Paris", "It could be Paris or Rome", 0),
        (["Paris", "City of Light"], "The answer is City of  Light", 1),
        (True, "Answer: true", 1),
        (7, "Answer: 7", 1),
        ("a {b} \\frac{1}{2}", "Answer: a {b} \\frac{1}{2}", 1),
    ],
)
async def test_exact(target: Any, reply: str, value: int) -> None:
    assert (await grade(ExactScorer(), target, reply)).value == value


async def test_an_answer_that_must_be_marked() -> None:
    scorer = ExactScorer(marked=True)
    assert await grade(scorer, "A", "I weigh it.\nAnswer: A") == Score(1.0, "A")
    assert (await grade(scorer, "A", "A")).value == 1
    assert (await grade(scorer, "A", "It could be any of them.")).failure == "format"


@pytest.mark.parametrize(
    ("target", "reply", "value"),
    [
        ("cat", "The Cat sat.", 1),
        ("cat", "concatenate", 0),
        ("New York", "in new\nyork city", 1),
        ("12", "it is 120", 0),
        ("C++", "I like C++, really", 1),
        ("cat", "<think>cat</think>dog", 0),
        (["dog", "cat"], "a cat", 1),
    ],
)
async def test_contains(target: Any, reply: str, value: int) -> None:
    assert (await grade(ContainsScorer(), target, reply)).value == value


async def test_f1_takes_the_best_alternative_and_is_not_gamed() -> None:
    assert (await grade(F1Scorer(), ["Ethiopians", "40,000 Ethiopians"], "Answer: 40000 Ethiopians")).value == 1
    assert (await grade(F1Scorer(), ["4"], "Answer: 5")).value == 0
    assert 0 < (await grade(F1Scorer(), ["Hernan Peraza The Elder"], "Hernan Peraza")).value < 1
    listed = await grade(F1Scorer(), ["Rome"], "Answer: Rome | Oslo | Bern | Paris | Berlin | Vienna | Madrid")
    assert listed.value <= 0.5


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: True", "True"),
        ("The expression evaluates to **false**.", "False"),
        ("not True is False", "False"),
        ("True is what it looks like,\nbut I am unsure", "True"),
        ("untrue things", ""),
    ],
)
async def test_labels(reply: str, answer: str) -> None:
    score = await grade(LabelScorer(("True", "False")), "False", reply)
    assert score.answer == answer
    assert score.value == (answer == "False")
    assert score.failure == (None if answer else "format")


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Answer: apple, bee, cat", 1),
        ("apple bee cat", 1),
        ("Answer:\nApple Bee Cat.", 1),
        ("- apple\n- bee\n- cat", 1),
        ("1. apple\n2. bee\n3. cat", 1),
        ("apple cat bee", 0),
        ("apple bee", 0),
    ],
)
async def test_words(reply: str, value: int) -> None:
    assert (await grade(WordsScorer(), "apple bee cat", reply)).value == value


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: (B)", "B"),
        (r"so \boxed{\text{(C)}}", "C"),
        ("B", "B"),
        ("The best option is A because it is warm.", "A"),
        ("Nothing fits", ""),
        ("Answer: (F)", ""),
    ],
)
async def test_choice(reply: str, answer: str) -> None:
    score = await grade(ChoiceScorer(), "(B)", reply, OPTIONS)
    assert score.answer == answer
    assert score.value == (answer == "B")
    assert score.failure == (None if answer else "format")


async def test_choices_given_as_an_option() -> None:
    assert (await grade(ChoiceScorer("AB"), "b", "Answer: B")).value == 1
    assert (await grade(ChoiceScorer("AB"), "b", "Answer: C")).failure == "format"
    assert ChoiceScorer().target_fault("Bern")
    assert ChoiceScorer().target_fault(2)


@pytest.mark.parametrize(
    ("scorer", "target", "reply", "value"),
    [
        (NumericScorer(), 1045, "The bill comes to $1,045.00.", 1),
        (NumericScorer(), "7", "Answer: 7.0", 1),
        (NumericScorer(), "7", "Answer: 7.01", 0),
        (NumericScorer(0.05), "7", "Answer: 7.01", 1),
        (NumericScorer(), "3/4", "Answer: 3/4", 1),
        (NumericScorer(), "0.75", r"so \boxed{\frac34}", 1),
        (NumericScorer(), 10**30, f"Answer: {10**30:,}", 1),
        (NumericScorer(), 10**30, f"Answer: {10**30 + 1}", 0),
        (Gsm8kScorer(), "45", "#### 45.", 1),
        (Gsm8kScorer(), "45", "#### $45", 1),
        (Gsm8kScorer(), "45", "#### 45.5", 0),
        (Gsm8kScorer(), "45", "15 * 3 = 45 apples in 2 bags\nAnswer: 45 apples", 1),
        (Gsm8kScorer(), "1250", "The total is 12", 0),
        (OfficialGsm8kScorer(), "45", "#### 45", 1),
        (OfficialGsm8kScorer(), "1045", "#### 1,045", 1),
        (OfficialGsm8kScorer(), "45", "#### 45.", 0),
    ],
)
async def test_numbers(scorer: Scorer, target: Any, reply: str, value: int) -> None:
    score = await grade(scorer, target, reply)
    assert (score.value, score.failure) == (value, None)


@pytest.mark.parametrize(
    ("scorer", "reply"),
    [
        (NumericScorer(), "no number here"),
        (Gsm8kScorer(), ""),
        (OfficialGsm8kScorer(), "#### $45"),
        (OfficialGsm8kScorer(), "Answer: 45"),
        (ExactScorer(), " "),
        (F1Scorer(), "<think>only thoughts"),
        (ContainsScorer(), ""),
    ],
)
async def test_no_answer_is_a_format_failure(scorer: Scorer, reply: str) -> None:
    score = await grade(scorer, "45", reply)
    assert (score.value, score.answer, score.failure) == (0, "", "format")
    assert not scorer.same(reply, reply)


def test_votes_count_what_is_equal_for_the_task() -> None:
    assert NumericScorer().same("Answer: 4", "so it is 4.0")
    assert not NumericScorer().same("4", "5")
    assert NumericScorer(0.5).same("4", "4.5")
    assert ExactScorer().same("Answer: Paris", "paris")
    assert ChoiceScorer().same("Answer: (B)", "I choose B")
    assert F1Scorer().same("Answer: the Beatles", "Beatles")
    assert ContainsScorer().same("Answer: cat", "Cat")
    assert LabelScorer(("yes", "no")).same("Answer: yes", "Well, yes.")


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
@given(a=st.text(max_size=30), b=st.text(max_size=30))
def test_equality_has_no_direction_and_answers_equal_themselves(scorer: Scorer, a: str, b: str) -> None:
    first, second = f"Answer: {a}", f"{b}\n#### 12"
    assert scorer.same(first, second) == scorer.same(second, first)
    for reply in (first, second):
        assert scorer.same(reply, reply) == scorer.same(f"{reply}", f" {reply}")


@pytest.mark.parametrize(
    ("scorer", "target", "answer"),
    [
        (ExactScorer(), ["Paris", "City of Light"], "Paris"),
        (NumericScorer(), 7, "7"),
        (ChoiceScorer(), "b", "(B)"),
        (F1Scorer(), ["4", "5"], "4"),
        (OfficialGsm8kScorer(), "7", "#### 7"),
    ],
)
def test_targets_are_shown_as_answers(scorer: Scorer, target: Any, answer: str) -> None:
    assert scorer.show(target) == answer
