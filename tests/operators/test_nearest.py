"""The nearest examples by words."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.ledger.problem import Problem
from treadle.operators.nearest import nearest
from treadle.testing.stage import stage

POOL = [
    ("A train goes 80 km in 2 hours. How fast is it?", "40"),
    ("Anna has 3 apples and buys 4 more. How many apples has she?", "7"),
    ("What is the capital of France?", "Paris"),
    ("A car goes 120 km in 3 hours. How fast does the car go?", "40"),
    ("Ben buys pears and apples.", "yes"),
]


def silent(_: object) -> str:
    raise AssertionError("likeness asks nobody")


async def test_the_examples_that_share_the_rarest_words_come_first() -> None:
    async with stage(silent) as here:
        found = await nearest(Problem("How fast is a car that goes 7 km in 5 hours?"), POOL, run=here.run, k=2)
        assert [answer for _, answer in found] == ["40", "40"]
        assert found[0] == POOL[3]
        capital = await nearest(Problem("what is the CAPITAL of spain"), POOL, run=here.run, k=1)
        assert capital == (POOL[2],)
        assert here.calls == 0


async def test_the_question_itself_is_never_an_example() -> None:
    async with stage(silent) as here:
        found = await nearest(Problem(" what is the capital of  France? "), POOL, run=here.run, k=9)
        assert POOL[2] not in found
        assert len(found) == 4


async def test_scripts_without_spaces_are_compared_too() -> None:
    pool = [("今天天气怎么样", "a"), ("法国的首都是哪里", "b"), ("你吃饭了吗", "c")]
    async with stage(silent) as here:
        assert await nearest(Problem("德国的首都是哪里"), pool, run=here.run, k=1) == (pool[1],)


async def test_equally_near_examples_keep_their_order_and_none_is_fine() -> None:
    pool = [(f"upper-case: {word}", word.upper()) for word in ("ant", "bee", "cat", "dog")]
    async with stage(silent) as here:
        assert await nearest(Problem("zzz"), pool, run=here.run, k=3) == tuple(pool[:3])
        assert await nearest(Problem("upper-case: cow"), pool, run=here.run, k=2) == tuple(pool[:2])
        assert await nearest(Problem("zzz"), [], run=here.run, k=3) == ()
        assert await nearest(Problem(""), [("", "x"), ("?!", "y")], run=here.run, k=3) == (("?!", "y"),)


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 12))
async def test_the_same_examples_are_found_in_whatever_order_they_come(chance: random.Random, k: int) -> None:
    mixed = POOL.copy()
    chance.shuffle(mixed)
    question = Problem("How fast goes Anna, who buys a car and 3 apples in France?")
    async with stage(silent) as here:
        found = await nearest(question, mixed, run=here.run, k=k)
        assert len(found) == min(k, len(POOL))
        assert found == await nearest(question, POOL, run=here.run, k=k)
