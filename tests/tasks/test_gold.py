"""Gold against gold: references that a task's own scorer would not accept."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from treadle.errors import Caution, DatasetError
from treadle.ledger.run import Run
from treadle.tasks.base import Sample, Score, Scorer
from treadle.tasks.gold import GoldReport, apply_gold, check_gold, gold_key
from treadle.tasks.scorers.choice import ChoiceScorer
from treadle.tasks.scorers.custom import UserScorer, scorer
from treadle.tasks.scorers.exact import ExactScorer
from treadle.tasks.scorers.judge import JudgeScorer
from treadle.tasks.scorers.math import MathScorer
from treadle.tasks.scorers.numeric import NumericScorer
from treadle.tasks.scorers.regex import RegexScorer
from treadle.tasks.task import Task

OPTIONS = "Which?\n(A) x\n(B) y\n(C) z"


def choices(letters: str, drop: bool = False) -> Task:
    rows = (Sample(f"q{place}", OPTIONS, letter, line=place + 1) for place, letter in enumerate(letters))
    return Task("choices", tuple(rows), ChoiceScorer(), drop_bad_gold=drop)


async def test_good_references_pass() -> None:
    task = choices("ABCA")
    report = await check_gold(task)
    assert (report.checked, report.bad) == (4, ())
    assert apply_gold(task, report) is task


async def test_bad_references_are_listed_and_refused() -> None:
    task = choices("ABFCG")
    report = await check_gold(task)
    assert [(bad.id, bad.line, bad.reference) for bad in report.bad] == [("q2", 3, "(F)"), ("q4", 5, "(G)")]
    with pytest.raises(DatasetError) as caught:
        apply_gold(task, report)
    assert "2 of 5 references" in str(caught.value)
    assert "q2 (line 3), q4 (line 5)" in str(caught.value)
    assert "--drop-bad-gold" in str(caught.value)


async def test_the_list_is_bounded() -> None:
    task = choices("F" * 40)
    with pytest.raises(DatasetError, match="and 30 more") as caught:
        apply_gold(task, await check_gold(task))
    assert len(str(caught.value)) < 600


async def test_dropping_counts_them_out() -> None:
    task = choices("ABFCG", drop=True)
    with pytest.warns(Caution, match=r"2 of 5 references are graded wrong and left out: q2 \(line 3\), q4"):
        left = apply_gold(task, await check_gold(task))
    assert [sample.id for sample in left.samples] == ["q0", "q1", "q3"]
    assert left.dropped == ("q2", "q4")
    with pytest.warns(Caution), pytest.raises(DatasetError, match="no sample is left"):
        apply_gold(choices("FG", drop=True), await check_gold(choices("FG")))


async def test_a_report_can_be_kept_and_found_again() -> None:
    task = choices("ABF")
    report = await check_gold(task)
    again = msgspec.json.decode(msgspec.json.encode(report), type=GoldReport)
    assert again == report
    assert gold_key(task) == gold_key(choices("ABF")) == report.key
    assert gold_key(choices("ABC")) != report.key
    assert gold_key(Task("t", task.samples, NumericScorer(0.1))) != gold_key(Task("t", task.samples, NumericScorer()))


@pytest.mark.parametrize(
    ("kind", "target"),
    [(JudgeScorer(), "a text"), (RegexScorer(), "a+"), (ExactScorer(), None)],
    ids=["judged", "pattern", "none"],
)
async def test_where_there_is_no_reference_nothing_is_checked(kind: Scorer, target: Any) -> None:
    task = Task("free", (Sample("q", "?", target),), kind)
    assert (await check_gold(task)).checked == 0


async def test_a_users_scorer_that_fails_on_its_own_reference_is_found() -> None:
    @scorer
    def strict(sample: Sample, answer: str) -> bool:
        if sample.id == "b":
            raise ValueError("cannot grade this")
        return answer == "yes"

    task = Task("own", (Sample("a", "?", "yes"), Sample("b", "?", "yes"), Sample("c", "?", "no")), strict)
    report = await check_gold(task)
    assert [bad.id for bad in report.bad] == ["b", "c"]
    assert "cannot grade this" in report.bad[0].reason
    assert report.bad[1].reason == "scored 0"


async def test_a_scorer_that_asks_models_is_never_asked_here() -> None:
    class Asking:
        name = "asking"
        answer_format = ""
        judged: bool = False

        async def score(self, sample: Sample, answer: str, run: Run) -> Score:
            return Score(0.0, (await run.ask("is it right?")).text)

        def same(self, a: str, b: str) -> bool:
            return a == b

        def show(self, target: Any) -> str:
            return str(target)

    task = Task("asked", (Sample("a", "?", "yes"),), cast(Scorer, Asking()))
    assert (await check_gold(task)).bad == ()


async def test_ten_thousand_references_are_checked_in_no_time() -> None:
    exact = Task("e", tuple(Sample(str(n), "?", f"answer {n}") for n in range(10_000)), ExactScorer())
    numeric = Task("n", tuple(Sample(str(n), "?", n) for n in range(10_000)), NumericScorer())
    before = time.process_time()
    assert not (await check_gold(exact)).bad
    assert not (await check_gold(numeric)).bad
    assert time.process_time() - before < 6


async def test_mathematical_references_that_no_box_holds_are_found() -> None:
    task = Task("m", (Sample("a", "?", r"\frac{1}{2}"), Sample("b", "?", r"\{1,2")), MathScorer())
    assert [bad.id for bad in (await check_gold(task)).bad] == []
    broken = Task("m", (Sample("a", "?", r"\frac{1}{2"),), MathScorer())
    assert [bad.id for bad in (await check_gold(broken)).bad] == ["a"]


def test_two_scorers_of_one_name_are_not_remembered_as_one() -> None:
    def scored(grade: Callable[[Sample, str], bool]) -> Task:
        return Task("mine", (Sample("q", "?", "x"),), UserScorer(grade, "<lambda>"))

    def first(sample: Sample, answer: str) -> bool:
        return answer == sample.target

    def second(sample: Sample, answer: str) -> bool:
        return answer != sample.target

    assert gold_key(scored(first)) == gold_key(scored(first))
    assert gold_key(scored(first)) != gold_key(scored(second))
