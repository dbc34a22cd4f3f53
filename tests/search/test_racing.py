"""Racing: who stops, how often that is a mistake, and what a surrogate may see."""

from __future__ import annotations

import numpy as np
import pytest

from treadle.errors import UserError
from treadle.evaluation.statistics.clusters import FloatArray
from treadle.search.racing import Race


def outcomes(rng: np.random.Generator, lifts: list[float], n: int, infra: float = 0.1) -> FloatArray:
    """Structures × samples: common difficulty, half of the luck shared, some draws lost."""
    difficulty = rng.normal(0.9, 1.0, n)
    luck = 0.7 * rng.standard_normal(n) + 0.7 * rng.standard_normal((len(lifts), n))
    table = (luck < difficulty + np.array(lifts)[:, None]).astype(float)
    table[rng.random(table.shape) < infra] = np.nan
    return table


def in_step(race: Race, table: FloatArray) -> Race:
    for start in range(0, table.shape[1], race.block):
        for row, scores in enumerate(table):
            if not race.is_dropped(f"s{row}"):
                race.tell(f"s{row}", scores[start : start + race.block])
    return race


def one_after_another(race: Race, table: FloatArray) -> Race:
    for row, scores in enumerate(table):
        for start in range(0, table.shape[1], race.block):
            if not race.is_dropped(f"s{row}"):
                race.tell(f"s{row}", scores[start : start + race.block])
    return race


@pytest.mark.parametrize("known", [True, False])
def test_a_fixed_structure_among_equals_rarely_stops(known: bool) -> None:
    rng = np.random.default_rng(11)
    wrong = 0
    for search in range(100):
        race = Race(block=10, structures=10 if known else None)
        run = in_step if search % 2 else one_after_another
        run(race, outcomes(rng, [0.0] * 10, 80))
        wrong += race.is_dropped("s0")
    assert wrong / 100 <= 0.05


@pytest.mark.parametrize("position", [0, 7])
def test_the_truly_best_of_many_survives_whenever_it_arrives(position: int) -> None:
    rng = np.random.default_rng(12)
    lifts = [-0.05] * 8
    lifts[position] = 0.0
    wrong = sum(
        one_after_another(Race(block=8), outcomes(rng, lifts, 96)).is_dropped(f"s{position}") for _ in range(100)
    )
    assert wrong / 100 <= 0.05


def test_looking_at_every_sample_does_not_raise_the_error() -> None:
    rng = np.random.default_rng(13)
    wrong = 0
    for _ in range(100):
        race = in_step(Race(block=1, structures=2), rng.integers(0, 2, (2, 100)).astype(float))
        wrong += race.is_dropped("s0")
    assert wrong / 100 <= 0.06


def test_what_is_clearly_worse_stops_at_a_block_end_and_saves_its_samples() -> None:
    race = in_step(Race(block=10), outcomes(np.random.default_rng(14), [0.5, -1.5, 0.4, -1.6], 120))
    assert set(race.dropped()) == {"s1", "s3"}
    assert all(n % 10 == 0 and n < 120 for n in race.dropped().values())
    standing = race.standing()
    assert [row.structure for row in standing[2:]] in (["s1", "s3"], ["s3", "s1"])
    assert [row.stopped_at for row in standing[:2]] == [None, None]
    assert standing[-1].stopped_at == standing[-1].n == race.met(standing[-1].structure)


def test_the_order_in_which_blocks_are_told_decides_nothing() -> None:
    table = outcomes(np.random.default_rng(15), [0.5, -1.0, 0.0, -2.0], 60)
    races = [Race(block=10), Race(block=10)]
    for race in races:
        for row in range(4):
            race.enter(f"s{row}")
    for start in range(0, 60, 10):
        for row in range(4):
            races[0].tell(f"s{row}", table[row, start : start + 10])
    for row in reversed(range(4)):
        for start in range(0, 60, 10):
            races[1].tell(f"s{row}", table[row, start : start + 10])
    assert races[0].dropped()
    assert set(races[0].dropped()) == set(races[1].dropped())
    assert [r.effect for r in races[0].standing()] == pytest.approx([r.effect for r in races[1].standing()])


def test_late_structures_need_more_evidence() -> None:
    def blocks_until_dropped(filler: int, declared: int | None = None) -> int:
        race = Race(block=2, structures=declared)
        for row in range(filler):
            race.enter(f"filler{row}")
        race.enter("good")
        race.enter("bad")
        for block in range(1, 100):
            race.tell("good", [1.0, 1.0])
            if "bad" in race.tell("bad", [0.0, 0.0]):
                return block
        return 100

    assert blocks_until_dropped(0) < blocks_until_dropped(30) < 15
    assert blocks_until_dropped(0, 2) < blocks_until_dropped(0, 40) < blocks_until_dropped(30)


def test_infra_failures_are_no_evidence() -> None:
    race = Race(block=20)
    race.tell("up", [1.0] * 20)
    assert race.tell("down", [np.nan] * 20) == ()
    assert race.standing()[1].score is None
    assert race.standing()[1].effect is None


def test_a_race_is_never_emptied() -> None:
    """Each is beaten by another at some time; the last one stays."""
    race = Race(block=20, structures=3)
    phases = [(1, (1.0, 0.0, 0.9)), (4, (0.0, 0.0, 1.0)), (20, (0.0, 1.0, 0.0))]
    for blocks, scores in phases:
        for _ in range(blocks):
            for row, score in enumerate(scores):
                race.tell(f"s{row}", [score] * 20)
    assert set(race.dropped()) == {"s0", "s1"}
    alone = Race(block=5)
    assert alone.tell("only", [0.0] * 5) == ()


@pytest.mark.parametrize("seed", [0, 3, 5, 7])
def test_lost_draws_never_cost_a_structure_its_place(seed: int) -> None:
    """Twenty structures, twenty samples, some lost: the least-squares matrix is singular up to rounding."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        race = Race(block=20)
        for row, scores in enumerate(outcomes(rng, [0.0] * 20, 20)):
            race.tell(f"s{row}", scores)
        assert all(row.effect is not None and abs(row.effect) <= 1 for row in race.standing())


def test_the_field_may_grow_without_end() -> None:
    race = Race(block=4)
    for row in range(40):
        race.tell(f"s{row}", [1.0, 0.0, 1.0, float(row % 2)])
    assert len(race.standing()) == 40


def test_centred_differences_undo_an_easy_start() -> None:
    """The stopped structure met only easy samples: its raw mean flatters, its difference does not."""
    rng = np.random.default_rng(16)
    easy, hard = rng.random((3, 40)) < 0.9, rng.random((3, 40)) < 0.3
    race = Race(block=40)
    for row in range(2):
        race.tell(f"s{row}", easy[row].astype(float))
        race.tell(f"s{row}", hard[row].astype(float))
    race.tell("early", np.where(easy[2], 1.0, 0.0) * 0.95)
    rows = {row.structure: row for row in race.standing()}
    points = {point.structure: point for point in race.centred_differences()}
    assert rows["early"].score is not None
    assert rows["s0"].score is not None
    assert rows["early"].score > rows["s0"].score + 0.15
    assert points["early"].difference < points["s0"].difference + 0.1
    assert points["early"].noise > points["s0"].noise
    assert points["early"].n == 40
    assert sum(point.difference for point in points.values()) == pytest.approx(0.0, abs=1e-9)


def test_the_noise_of_a_difference_is_its_standard_error() -> None:
    rng = np.random.default_rng(17)
    errors: list[float] = []
    noise: list[float] = []
    for _ in range(150):
        race = in_step(Race(block=20, alpha=1e-9), outcomes(rng, [0.0] * 6, 60))
        first = race.centred_differences()[0]
        errors.append(first.difference)
        noise.append(first.noise)
    assert np.mean(noise) == pytest.approx(float(np.std(errors)), rel=0.2)


def test_before_anything_was_told() -> None:
    race = Race(block=5)
    race.enter("waiting")
    assert race.centred_differences() == ()
    assert race.standing()[0].n == 0
    assert race.met("unknown") == 0
    assert race.tell("waiting", [1.0] * 5) == ()
    point = race.centred_differences()[0]
    assert (point.difference, point.n) == (0.0, 5)
    assert point.noise > 0


def test_blocks_are_the_same_for_all() -> None:
    race = Race(block=5)
    race.tell("a", [1.0] * 5)
    with pytest.raises(ValueError, match="has 4 samples"):
        race.tell("b", [1.0] * 4)
    race.tell("a", [1.0] * 2)
    with pytest.raises(ValueError, match="block 3"):
        race.tell("a", [1.0] * 5)
    with pytest.raises(UserError, match="between 0 and 1"):
        race.tell("b", [50.0] * 5)


def test_a_declared_number_of_structures_holds() -> None:
    race = Race(block=1, structures=1)
    race.tell("a", [1.0])
    with pytest.raises(ValueError, match="declared for 1 structures"):
        race.tell("b", [1.0])
    with pytest.raises(ValueError, match="at least one sample"):
        Race(block=0)
