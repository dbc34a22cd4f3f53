"""The split into search, selection and test parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.errors import UserError
from treadle.tasks.base import Sample
from treadle.tasks.split import split_samples


def samples(count: int, group_size: int = 0) -> list[Sample]:
    groups = [str(number // group_size) if group_size else None for number in range(count)]
    return [Sample(f"q{number}", "", group=group) for number, group in enumerate(groups)]


def test_a_hundred_samples_are_split_thirty_twenty_fifty() -> None:
    split = split_samples(samples(100), 7)
    assert (len(split.search), len(split.selection), len(split.test)) == (30, 20, 50)
    numbers = [int(sample.id[1:]) for sample in split.search]
    assert numbers == sorted(numbers)
    assert numbers != list(range(30))


def test_the_seed_decides_and_nothing_else() -> None:
    rows = samples(60)
    assert split_samples(rows, 1) == split_samples(list(rows), 1)
    assert split_samples(rows, 1) != split_samples(rows, 2)
    reordered = split_samples(rows[::-1], 1)
    assert {sample.id for sample in reordered.test} == {sample.id for sample in split_samples(rows, 1).test}


def test_more_rows_hardly_move_the_others() -> None:
    before = {sample.id for sample in split_samples(samples(200), 3).test}
    after = {sample.id for sample in split_samples(samples(220), 3).test}
    assert len(before - after) <= 15


def test_other_shares() -> None:
    split = split_samples(samples(130), 7, (40, 30, 60))
    assert (len(split.search), len(split.selection), len(split.test)) == (40, 30, 60)


@pytest.mark.parametrize("rows", [samples(0), samples(2), samples(30, group_size=15)], ids=["none", "two", "2 groups"])
def test_fewer_than_three_groups_are_refused_in_plain_words(rows: list[Sample]) -> None:
    with pytest.raises(UserError, match="cannot be split.*give more samples"):
        split_samples(rows, 1)


@given(
    st.lists(st.integers(0, 12), min_size=3, max_size=60).filter(lambda groups: len(set(groups)) >= 3),
    st.integers(0, 2**40),
)
def test_every_row_stands_in_one_part_and_no_group_in_two(groups: list[int], seed: int) -> None:
    rows = [Sample(str(number), "", group=str(group)) for number, group in enumerate(groups)]
    split = split_samples(rows, seed)
    parts = [split.search, split.selection, split.test]
    assert all(parts)
    assert sorted(sample.id for part in parts for sample in part) == sorted(sample.id for sample in rows)
    held = [{sample.group for sample in part} for part in parts]
    assert sum(len(home) for home in held) == len(set(groups))


def test_a_group_is_not_a_sample_of_the_same_name() -> None:
    rows = [Sample("a", ""), Sample("b", "", group="a"), Sample("c", "", group="a"), Sample("d", "")]
    split = split_samples(rows, 5)
    homes = {
        sample.id: place for place, part in enumerate((split.search, split.selection, split.test)) for sample in part
    }
    assert homes["b"] == homes["c"]
    assert len(set(homes.values())) == 3
