"""Ranking by one look at all, and by pairs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import ProviderError
from treadle.ledger.problem import Problem
from treadle.models.base import Request
from treadle.operators.candidate import Candidate
from treadle.operators.player import Player
from treadle.operators.prefer import prefer
from treadle.operators.rank import rank
from treadle.operators.rank_pairs import rank_pairs
from treadle.testing.stage import Stage, stage
from treadle.testing.virtual_time import run_virtual

SHOWN = re.compile(r"<candidate_(\d+)>\n(.*?)\n</candidate_\1>", re.DOTALL)
FIVE = tuple(Candidate(name, "x" * length) for name, length in zip("abcde", (3, 1, 5, 2, 4), strict=True))


def ids(candidates: tuple[Candidate, ...]) -> str:
    return "".join(candidate.id for candidate in candidates)


def by_length(request: Request) -> str:
    """The longest first."""
    shown = {number: text for turn in request.messages for number, text in SHOWN.findall(turn.content)}
    order = sorted(shown, key=lambda number: -len(shown[number]))
    return f"As [2] shows:\n**Ranking: {' > '.join(order)}**\nBest: {order[0]}"


async def test_the_best_are_kept_in_their_order_and_only_they_are_asked_for() -> None:
    async with stage(by_length) as here:
        given = (Candidate("a", "xxx", "too short"), *FIVE[1:])
        assert ids(await rank(Problem("?"), given, run=here.run, top_k=3)) == "cea"
        assert here.calls == 1
        asked = here.requests[0].messages[-1].content
        assert "too short" in asked
        assert "Name only the best 3, each once." in asked
        assert [text for _, text in SHOWN.findall(asked)] == [candidate.text for candidate in given]
        assert not here.notes("mended")
        await rank(Problem("?"), FIVE, run=here.run, top_k=1, instruction="By beauty.", player=Player("ranker", "m"))
        assert "By beauty.\n\nThen end with" in here.requests[1].messages[-1].content
        await rank(Problem("?"), FIVE, run=here.run, top_k=7)
        assert "Name all 5" in here.requests[2].messages[-1].content


@pytest.mark.parametrize("few", [(), FIVE[:1]])
async def test_one_candidate_is_not_ranked(few: tuple[Candidate, ...]) -> None:
    async with stage(by_length) as here:
        assert await rank(Problem("?"), few, run=here.run, top_k=3) == few
        assert await rank_pairs(Problem("?"), few, run=here.run, top_k=3) == few
        assert here.calls == 0


@pytest.mark.parametrize(
    ("said", "best", "rejected", "added"),
    [
        ("Ranking: 2 > 2 > 9 > 4", "bda", [2, 9], ["a"]),
        ("Ranking: 5", "eab", [], ["a", "b"]),
        ("Ranking: 5 > 1 > 3 > 3", "eac", [3], []),
    ],
)
async def test_repeated_and_unknown_numbers_do_not_count_and_missing_ones_follow_in_the_order_given(
    said: str, best: str, rejected: list[int], added: list[str]
) -> None:
    async with stage(lambda _: said) as here:
        assert ids(await rank(Problem("?"), FIVE, run=here.run, top_k=3)) == best
        assert here.calls == 1
        assert [(note["rejected"], note["added"]) for note in here.notes("mended")] == [(rejected, added)]


async def test_a_reply_without_a_ranking_is_asked_for_once_more() -> None:
    def hesitant(request: Request) -> str:
        return "Ranking: 3 > 1" if len(request.messages) == 3 else "All are fine, says [4]."

    async with stage(hesitant) as here:
        assert ids(await rank(Problem("?"), FIVE, run=here.run, top_k=2)) == "ca"
        assert here.calls == 2
        assert len(here.notes("asked again")) == 1
        assert not here.notes("fallback")


@pytest.mark.parametrize("said", ["", "garbage", "Ranking: a > b > c", "Ranking: 0 > 1", "I think 7 of 9 is nice."])
async def test_a_ranker_that_always_answers_garbage_leaves_the_order_given(said: str) -> None:
    async with stage(lambda _: said) as here:
        assert ids(await rank(Problem("?"), FIVE, run=here.run, top_k=2)) == "ab"
        assert here.calls == 2
        assert [note["to"] for note in here.notes("fallback")] == ["the order given"]


async def test_a_ranker_that_is_down_is_never_hidden() -> None:
    def down(_: Request) -> str:
        raise RuntimeError("down")

    async with stage(down) as here:
        for ranked in (rank, rank_pairs):
            with pytest.raises(ProviderError):
                await ranked(Problem("?"), FIVE, run=here.run, top_k=2)


async def test_pairs_are_all_seen_in_both_orders_and_wins_decide() -> None:
    async with stage({"m": lambda _: "no", "big": by_length}) as here:
        best = await rank_pairs(Problem("?"), FIVE, run=here.run, top_k=4, player=Player("ranker", "big"))
        assert ids(best) == "cead"
        assert here.calls == 20
        seen = {tuple(text for _, text in SHOWN.findall(request.messages[-1].content)) for request in here.requests}
        assert len(seen) == 20
        assert not here.notes("tie")
        assert await prefer(Problem("?"), FIVE[0], FIVE[1], run=here.run, player=Player("judge", "big")) == FIVE[0]


def tied(texts: str, question: str, reply: Callable[[Request], str]) -> tuple[str, Stage]:
    """The order that ranking by pairs gives candidates of which a judge prefers none."""
    order: list[str] = []
    stages: list[Stage] = []

    async def play() -> None:
        async with stage(reply) as here:
            candidates = [Candidate(str(place), text) for place, text in enumerate(texts)]
            order.append(ids(await rank_pairs(Problem(question), candidates, run=here.run, top_k=len(texts))))
            stages.append(here)

    run_virtual(play())
    return order[0], stages[0]


def test_ties_are_ordered_by_the_question_and_never_by_the_texts() -> None:
    orders = {tied("abc", f"Which {number}?", lambda _: "Best: 1")[0] for number in range(30)}
    assert len(orders) == 6
    order, here = tied("abc", "Why?", lambda _: "Best: 1")
    assert tied("zyx", "Why?", lambda _: "Best: 1")[0] == order
    assert [note["candidates"] for note in here.notes("tie") if "order" in note] == [["0", "1", "2"]]


@given(st.permutations(range(1, 6)), st.integers(1, 6))
def test_the_given_order_does_not_change_who_is_best(lengths: list[int], top_k: int) -> None:
    async def play() -> None:
        async with stage(by_length) as here:
            given = [Candidate(str(length), "x" * length) for length in lengths]
            assert ids(await rank(Problem("?"), given, run=here.run, top_k=top_k)) == "54321"[:top_k]
            assert ids(await rank_pairs(Problem("?"), given, run=here.run, top_k=top_k)) == "54321"[:top_k]

    run_virtual(play())
