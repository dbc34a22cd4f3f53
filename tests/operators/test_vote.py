"""Votes: the task's equality, the stated tie rule, and who may vote."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.ledger.problem import Problem
from treadle.operators.candidate import Candidate
from treadle.operators.vote import count_votes, vote
from treadle.testing.stage import stage


def same_number(a: str, b: str) -> bool:
    try:
        return float(a.split()[-1]) == float(b.split()[-1])
    except (ValueError, IndexError):
        return False


def silent(_: object) -> str:
    raise AssertionError("a vote asks nobody")


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(str(draw), text) for draw, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("texts", "winner", "tied"),
    [
        (("5", "4", "4.0"), "1", []),
        (("it is 7", "so 8", "8.0", "7.00"), "0", ["1"]),
        (("1", "2", "3"), "0", ["1", "2"]),
        (("", "9", ""), "1", []),
        (("<think>5 5 5</think>", "<think>5 5 5</think>", "9"), "2", []),
        (("no idea", "no idea", "6"), "2", []),
        (("6",), "0", []),
    ],
    ids=("one value", "tie", "all differ", "empty", "only thoughts", "no answer", "alone"),
)
async def test_the_answer_that_most_replies_give_wins_and_a_tie_is_flagged(
    texts: tuple[str, ...], winner: str, tied: list[str]
) -> None:
    async with stage(silent) as here:
        won = await vote(Problem("?", same=same_number), candidates(*texts), run=here.run)
        assert won.id == winner
        assert [note["tied"] for note in here.notes("tie")] == ([tied] if tied else [])


async def test_where_nobody_has_an_answer_the_first_stands_and_it_is_noted() -> None:
    async with stage(silent) as here:
        won = await vote(Problem("?", same=same_number), candidates("", "dunno", "no clue"), run=here.run)
        assert won.text == "dunno"
        assert here.notes("no answer")


async def test_without_a_task_the_marked_answers_are_compared() -> None:
    replies = ("Two and two.\nAnswer: 5", "It follows.\n**Answer:** 4", "Clearly.\nThe answer is 4.0.", "I pass")
    async with stage(silent) as here:
        assert (await vote(Problem("2+2?"), candidates(*replies), run=here.run)).id == "1"
        assert [(note["votes"], note["of"]) for note in here.notes("vote")] == [(2, 4)]


async def test_the_vote_counts_of_the_trace_are_those_of_the_answer() -> None:
    async with stage(silent) as here:
        await vote(Problem("?", same=same_number), candidates("3", "x", "3.0", "1"), run=here.run)
        (note,) = here.notes("vote")
        assert (note["winner"], note["votes"], note["of"]) == ("0", 2, 4)


@given(st.permutations(["1.0", "1.4", "1.8"]))
def test_in_a_chain_of_near_numbers_the_middle_wins_whatever_the_order(texts: list[str]) -> None:
    result = count_votes(texts, lambda a, b: abs(float(a) - float(b)) <= 0.5)
    assert result is not None
    assert texts[result.place] == "1.4"
    assert result.votes == 3
    assert result.tied == ()


@given(st.lists(st.sampled_from("abcABC"), min_size=1, max_size=12))
def test_with_a_transitive_equality_the_winner_is_the_earliest_of_the_biggest_group(texts: list[str]) -> None:
    result = count_votes(texts, lambda a, b: a.lower() == b.lower())
    sizes = Counter(text.lower() for text in texts)
    biggest = max(sizes.values())
    firsts = {answer: next(i for i, text in enumerate(texts) if text.lower() == answer) for answer in sizes}
    leaders = sorted(firsts[answer] for answer, size in sizes.items() if size == biggest)
    assert result is not None
    assert [result.place, *result.tied] == leaders
    assert result.votes == biggest


@given(st.lists(st.sampled_from(["x", "y", "?"]), max_size=8))
def test_replies_without_an_answer_never_outvote_one_that_has_it(texts: list[str]) -> None:
    result = count_votes(texts, lambda a, b: a == b != "?")
    if set(texts) <= {"?"}:
        assert result is None
    else:
        assert result is not None
        assert texts[result.place] != "?"
