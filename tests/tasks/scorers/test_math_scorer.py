"""Mathematical answers: read from a reply, compared by algebra in a process that can be killed."""

from __future__ import annotations

import asyncio
import time
from typing import cast

import pytest

from treadle.ledger.run import Run
from treadle.tasks.base import Sample, Score
from treadle.tasks.scorers.math import MathScorer
from treadle.tasks.scorers.worker import worker_pool

NO_RUN = cast(Run, None)


async def grade(target: str, reply: str) -> Score:
    return await MathScorer().score(Sample("q", "?", target), reply, NO_RUN)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (r"so \boxed{\frac{3}{8}}", r"\frac{3}{8}"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"Hence \fbox{12}.", "12"),
        (r"so \boxed 5 holds", "5"),
        (r"we get \boxed{9}. Check: fine, \boxed{9}", "9"),
        (r"roots \boxed{2} and \boxed{3}", "3"),
        (r"so \boxed{3", ""),
        (r"<think>\boxed{1}</think>\boxed{2}", "2"),
        (r"Answer: $\frac34$", r"$\frac34$"),
        ("42", "42"),
        ("It follows\nthat the area must be $4\\pi$ after all", r"4\pi"),
        ("I cannot solve this one, I am afraid", ""),
        ("", ""),
    ],
)
async def test_the_answer_is_read_from_the_reply(reply: str, answer: str) -> None:
    score = await grade("nothing", reply)
    assert score.answer == answer
    assert score.failure == (None if answer else "format")
    assert score.value == 0


async def test_an_answer_read_again_is_the_same_answer() -> None:
    scorer = MathScorer()
    for reply in (r"so \boxed{\frac{3}{8}}", r"Answer: $x^2+1$", "42", r"\boxed{\text{no solution}}"):
        assert scorer.read(scorer.read(reply)) == scorer.read(reply)
        assert scorer.same(reply, scorer.read(reply))


@pytest.mark.parametrize(
    ("target", "reply", "value"),
    [
        (r"\frac{3}{5}", r"\boxed{\frac{3}{8}}", 0),
        ("2,3", r"\boxed{3,2}", 1),
        (r"p - q", r"\boxed{-q+p}", 1),
        (r"\frac{\sqrt{3}}{3}", r"\boxed{\frac{1}{\sqrt{3}}}", 1),
        (r"\begin{pmatrix} -2 \\ -14 \end{pmatrix}", r"\boxed{\begin{pmatrix}-2\\-14\end{pmatrix}}", 1),
        (r"\begin{pmatrix} -2 \\ -14 \end{pmatrix}", r"\boxed{\begin{pmatrix}-2\\-13\end{pmatrix}}", 0),
        (r"x^3+3x-6", r"\boxed{x^3 + 3x + 6}", 0),
        (r"(2,\infty)", r"\boxed{(2, +\infty)}", 1),
        (r"1 \pm \sqrt{19}", r"\boxed{1+\sqrt{19}, 1-\sqrt{19}}", 1),
        ("5x - 7y + 11z + 4 = 0", r"\boxed{7y-5x-11z-4=0}", 1),
    ],
)
async def test_algebra_decides(target: str, reply: str, value: int) -> None:
    assert (await grade(target, reply)).value == value
    assert (await grade(reply.removeprefix(r"\boxed{")[:-1], rf"\boxed{{{target}}}")).value == value


async def test_huge_powers_do_not_hang_and_the_next_comparison_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treadle.tasks.scorers.math.SECONDS", 0.5)
    assert (await grade("x+1", r"\boxed{1+x}")).value == 1
    start = time.monotonic()
    score = await grade("3", r"\boxed{10^{10^{8}} - x}")
    assert time.monotonic() - start < 4
    assert score.value == 0
    assert score.failure is None
    assert "longer than 0.5 seconds" in score.reason
    assert (await grade("x+2", r"\boxed{2+x}")).value == 1


async def test_many_comparisons_at_once_keep_the_loop_free() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    scores = await asyncio.gather(*(grade(f"y+{number}", rf"\boxed{{{number}+y}}") for number in range(20)))
    ticking.cancel()
    assert [score.value for score in scores] == [1.0] * 20
    assert ticks > 100


def test_votes_use_the_same_equality() -> None:
    scorer = MathScorer()
    assert scorer.same(r"\boxed{4}", "Answer: 4.0")
    assert scorer.same(r"\boxed{a+b}", r"\boxed{b+a}")
    assert not scorer.same(r"\boxed{a+b}", r"\boxed{a-b}")
    assert not scorer.same("nothing to see here, dear friend", "nothing to see here, dear friend")


def test_a_hopeless_comparison_in_a_vote_ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treadle.tasks.scorers.math.SAME_SECONDS", 0.3)
    assert worker_pool("math").ask({"a": "1", "b": "1"}).value is True
    start = time.monotonic()
    assert not MathScorer().same(r"\boxed{10^{10^{8}} + y}", r"\boxed{y}")
    assert time.monotonic() - start < 4
