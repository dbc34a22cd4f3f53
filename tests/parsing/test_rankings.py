from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.rankings import Ranking, ranking

FORMS = [
    "Ranking: {}",
    "**Ranking:** {}",
    "## Final ranking: {}",
    "- My ranking is {}",
    "The first [1] is short.\nRanking: {}\n",
    "Ranking: a > b > c\nRanking: {}",
    "Ranking: 9 > 8\nNo, wait.\nRanking: {}",
    "<think>Ranking: 1 > 2</think>Ranking: {}",
    "Ranking:\n\n{}",
    "Ranking: {}.",
]
JOINS = [" > ", ">", " &gt; ", ", ", ",", " -> ", " → "]
ITEMS = ["{}", "[{}]", "**{}**", "Candidate {}", "#{}", "candidate_{}"]


@given(
    st.integers(2, 30).flatmap(lambda n: st.tuples(st.just(n), st.permutations(range(1, n + 1)), st.integers(2, n))),
    st.sampled_from(FORMS),
    st.sampled_from(JOINS),
    st.sampled_from(ITEMS),
)
def test_whatever_its_clothes_a_ranking_is_read_as_it_was_written(
    order: tuple[int, list[int], int], form: str, join: str, item: str
) -> None:
    count, numbers, named = order
    line = join.join(item.format(number) for number in numbers[:named])
    assert ranking(form.format(line), count) == Ranking(tuple(numbers[:named]))


@given(st.text(max_size=120), st.integers(1, 6))
def test_only_what_was_shown_is_ranked_and_only_once(reply: str, count: int) -> None:
    read = ranking(f"Ranking: {reply}", count)
    if read is not None:
        assert read.order
        assert len(set(read.order)) == len(read.order)
        assert set(read.order) <= set(range(1, count + 1))


@pytest.mark.parametrize(
    ("reply", "order", "rejected"),
    [
        ("Ranking: 2", (2,), ()),
        ("Ranking: 2 > 2 > 1", (2, 1), (2,)),
        ("Ranking: 2 > 7 > 1", (2, 1), (7,)),
        ("Ranking: 2 > 1 because 3 is wrong", (2, 1), ()),
        ("Ranking:\n1. Candidate 3: sound\n   it shows 2 ways\n2. [1]\n3. 2", (3, 1, 2), ()),
        ("Ranking:\n1st: #2\n2nd: Candidate 3", (2, 3), ()),
        ("3 > 1 > 2", (3, 1, 2), ()),
        ("I think that\n3 > 1 > 2", (3, 1, 2), ()),
        ("[3, 1, 2]", (3, 1, 2), ()),
        ('{"ranking": [3, 1]}', (3, 1), ()),
        ('```json\n{"ranking": [3, 1]}\n```', (3, 1), ()),
        ("2", (2,), ()),
    ],
)
def test_what_is_forgiven(reply: str, order: tuple[int, ...], rejected: tuple[int, ...]) -> None:
    assert ranking(reply, 3) == Ranking(order, rejected)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot rank them.",
        "Ranking: a > b > c",
        "Ranking: none",
        "Ranking: 3 candidates are hard to put in order",
        "Ranking: 2 > 1 > 0",
        "Ranking: 9 > 8",
        "Ranking: 2.5",
        "The best are [2] and [1], as shown in [3].",
        "Since 3 > 1 holds, the second is right.",
        "<think>Ranking: 1 > 2",
        "{}",
        "[[1, 2]]",
    ],
)
def test_what_is_no_ranking(reply: str) -> None:
    assert ranking(reply, 3) is None
