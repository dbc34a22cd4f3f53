"""What all scorers promise of equality, and the faults of form that each could credit."""

from __future__ import annotations

from typing import Any, cast

import pytest

from treadle.errors import UserError
from treadle.ledger.run import Run
from treadle.tasks.base import Sample, Score, Scorer
from treadle.tasks.scorers.choice import ChoiceScorer
from treadle.tasks.scorers.contains import ContainsScorer
from treadle.tasks.scorers.custom import scorer
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.scorers.f1 import F1Scorer
from treadle.tasks.scorers.gsm8k import Gsm8kScorer, OfficialGsm8kScorer
from treadle.tasks.scorers.judge import JudgeScorer
from treadle.tasks.scorers.label import LabelScorer
from treadle.tasks.scorers.math import MathScorer
from treadle.tasks.scorers.numeric import NumericScorer
from treadle.tasks.scorers.open import as_scorer
from treadle.tasks.scorers.pairwise import PairwiseScorer
from treadle.tasks.scorers.reasoning_gym import ReasoningGymScorer
from treadle.tasks.scorers.regex import RegexScorer
from treadle.tasks.scorers.unscored import Unscored
from treadle.tasks.scorers.words import WordsScorer

NO_RUN = cast(Run, None)


async def grade(scorer: Scorer, target: Any, reply: str, question: str = "?") -> Score:
    return await scorer.score(Sample("q", question, target), reply, NO_RUN)


@scorer
def always(sample: Sample, answer: str) -> bool:
    return True


@scorer(equal=lambda a, b: True)
def agreeing(sample: Sample, answer: str) -> bool:
    return True


EVERY: tuple[Scorer, ...] = (
    ExactScorer(),
    ExactScorer(case=True),
    ContainsScorer(),
    RegexScorer(),
    RegexScorer(r"Result: (\w*)"),
    NumericScorer(),
    Gsm8kScorer(),
    OfficialGsm8kScorer(),
    ChoiceScorer(),
    F1Scorer(),
    WordsScorer(),
    LabelScorer(("True", "False")),
    MathScorer(),
    JudgeScorer(),
    PairwiseScorer(),
    ReasoningGymScorer("x", "{}"),
    Unscored(),
    always,
    agreeing,
)


@pytest.mark.parametrize("scorer", EVERY, ids=lambda scorer: scorer.name)
@pytest.mark.parametrize("reply", ["", " \n", "<think>it is 5</think>", "<think>cut off"])
def test_an_empty_reply_is_not_even_the_same_as_itself(scorer: Scorer, reply: str) -> None:
    assert not scorer.same(reply, reply)
    assert not scorer.same(reply, "Answer: 5")
    assert not scorer.same("Answer: 5", reply)


def test_a_reply_in_which_a_pattern_finds_nothing_has_no_answer() -> None:
    found = RegexScorer(r"Result: (\w*)")
    assert not found.same("no such line", "no such line")
    assert not found.same("Result: ", "Result: ")
    assert found.same("Result: blue", "Result: blue")


def test_an_empty_answer_between_tags_is_none() -> None:
    assert not ReasoningGymScorer("x", "{}").same("<answer></answer>", "<answer> </answer>")


@pytest.mark.parametrize(
    ("target", "reply", "value"),
    [
        ("5", "It is 5.5", 0),
        ("5", "It is 5.", 1),
        ("5", "It is (5), yes", 1),
        ("500", "1,500 people", 0),
        ("1", "1,500 people", 0),
        ("500", "500, or so", 1),
        ("5", "-5", 0),
        ("5", "it falls to \u22125", 0),
        ("5", "$5", 1),
        ("5", "5%", 1),
        ("3", "3:30", 0),
        ("5", "5/6", 0),
        ("5", "2^5", 0),
        ("C", "I like C++", 0),
        ("C", "I like C#", 0),
        ("C", "I like C.", 1),
        ("C++", "I like C++", 1),
        ("C++", "C++, then", 1),
        ("can", "I can't", 0),
        ("cat", "the cat's tail", 1),
        ("Paris", "_Paris_", 1),
        ("snake", "snake_case", 0),
        ("well", "well-known", 1),
    ],
)
async def test_contains_wants_whole_words_and_numbers(target: str, reply: str, value: int) -> None:
    assert (await grade(ContainsScorer(), target, reply)).value == value


@pytest.mark.parametrize(
    ("target", "answer", "value"),
    [
        ("b", "a=b", 0),
        ("mc2", "e=mc2", 0),
        ("5", "x = 5", 1),
        ("5", "x = $5", 1),
        ("-5", "x = -5", 1),
        ("[-1,4]", "x = [-1,4]", 1),
        ("[-1,4]", "x\\in[-1,4]", 1),
        ("0.75", "x = \\frac34", 1),
        ("a=b", "A = B", 0),
        ("a = b", "A = B", 1),
    ],
)
async def test_a_name_in_front_goes_only_before_a_value(target: str, answer: str, value: int) -> None:
    assert (await grade(ExactScorer(), target, f"Answer: {answer}")).value == value


async def test_exact_can_be_told_that_case_counts(tmp_path: Any) -> None:
    plain = as_scorer("exact", "t", folder=tmp_path)
    cased = as_scorer("exact?case=true", "t", folder=tmp_path)
    assert (plain.name, cased.name) == ("exact", "exact?case=true")
    assert as_scorer("exact?case=false", "t", folder=tmp_path).name == "exact"
    assert (await grade(plain, "river", "Answer: RIVER")).value == 1
    assert (await grade(cased, "river", "Answer: RIVER")).value == 0
    assert (await grade(cased, "river", "Answer: 'river'.")).value == 1
    assert (await grade(cased, "7", "Answer: 7.0")).value == 1
    assert plain.same("river", "RIVER")
    assert not cased.same("river", "RIVER")
    assert cased.same("RIVER", "Answer: RIVER.")
    with pytest.raises(UserError, match="one of false, true"):
        as_scorer("exact?case=yes", "t", folder=tmp_path)


@pytest.mark.parametrize(
    ("target", "reply", "value"),
    [
        ("50", r"\boxed{50\%}", 1),
        (r"50\%", r"\boxed{50}", 1),
        (r"50\%", r"\boxed{50 %}", 1),
        ("0.5", r"\boxed{50\%}", 0),
        (r"50\%", r"\boxed{0.5}", 0),
        (r"50\%", r"\boxed{\frac12}", 0),
        ("1000", r"\boxed{1 000}", 1),
        ("1000000", r"\boxed{1\,000\,000}", 1),
        ("1000", r"\boxed{1 00}", 0),
        ("", r"\boxed{}", 1),
        ("", r"\boxed{0}", 0),
        ("0", r"\boxed{}", 0),
        ("", r"\boxed{", 0),
        ("", "", 0),
    ],
)
async def test_mathematical_forms_follow_one_policy(target: str, reply: str, value: int) -> None:
    assert (await grade(MathScorer(), target, reply)).value == value


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("not True", ""),
        ("Answer: not True", ""),
        ("True or False", ""),
        ("Answer: True or False", ""),
        ("Answer: it isn't **True**", ""),
        ("Answer: True/False", ""),
        ("Is it True or False? It is True.", "True"),
        ("True and False is False", "False"),
        ("not True and not False is False", "False"),
        ("True, not False", "True"),
        ("First True.\nAnswer: neither True nor False", ""),
        ("First True.\nAnswer: it depends", ""),
        ("The answer is below:\n\nFalse", "False"),
    ],
)
async def test_labels_that_are_denied_or_listed_are_not_given(reply: str, answer: str) -> None:
    score = await grade(LabelScorer(("True", "False")), "False", reply)
    assert score.answer == answer
    assert score.failure == (None if answer else "format")
