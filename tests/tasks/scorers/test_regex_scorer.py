"""Regular expressions as a scorer, good and bad ones."""

from __future__ import annotations

import time
from typing import cast

import pytest

from treadle.errors import UserError
from treadle.ledger.run import Run
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.regex import RegexScorer

NO_RUN = cast(Run, None)


async def grade(target: str, reply: str, pattern: str = "") -> Score:
    return await RegexScorer(pattern).score(Sample("q", "?", target), reply, NO_RUN)


async def test_without_a_pattern_the_target_is_one() -> None:
    assert await grade(r"^Paris\b", "I think:\nParis, of course") == Score(1.0, "Paris")
    assert (await grade(r"^Paris\b", "not in Paris")).value == 0
    assert (await grade("secret", "<think>secret</think>no")).value == 0


async def test_with_a_pattern_its_last_match_is_the_answer() -> None:
    pattern = r"Result: (\w+)|Value=(\w+)"
    assert await grade("blue", "Result: red\nResult: Blue", pattern) == Score(1.0, "Blue")
    assert await grade("9", "Value=9", pattern) == Score(1.0, "9")
    assert (await grade("blue", "blue", pattern)).failure == "format"
    assert (await grade("blue", "Result: red", pattern)).value == 0


async def test_a_bad_pattern_cannot_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treadle.tasks.scorers.regex.SECONDS", 0.3)
    start = time.monotonic()
    score = await grade("(a+)+$", "a" * 60 + "b")
    assert time.monotonic() - start < 3
    assert score.value == 0
    assert "longer than 0.3 seconds" in score.reason


async def test_only_the_end_of_a_very_long_reply_is_searched() -> None:
    assert (await grade("early", "early" + "x" * 200_000)).value == 0
    assert (await grade("late", "x" * 200_000 + "late")).value == 1


async def test_an_empty_reply_has_no_answer() -> None:
    assert (await grade("a", "  ")).failure == "format"


def test_what_is_no_pattern_is_refused() -> None:
    with pytest.raises(UserError, match="no regular expression"):
        RegexScorer("(")
    assert "no regular expression" in RegexScorer().target_fault("(")
    assert RegexScorer().target_fault("a+") == ""
    assert RegexScorer().target_fault(3) != ""


def test_votes_compare_what_the_pattern_finds() -> None:
    scorer = RegexScorer(r"Result: (\w+)")
    assert scorer.same("Result: blue", "well, Result: red. Result: Blue!")
    assert not scorer.same("Result: blue", "blue")
    assert not scorer.same("Result: blue", "Result: red")
    assert RegexScorer().same("Answer: x", "I say\nAnswer: X.")
