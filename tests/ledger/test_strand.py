"""Draws, order and latency do not depend on what runs beside what."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.ledger.run import Run
from treadle.models.base import Request
from treadle.store.open import open_store
from treadle.testing.sessions import new_scope, recording_run, scripted_session
from treadle.testing.virtual_time import run_virtual


def echo(request: Request) -> str:
    return f"{request.messages[-1].content}#{request.draw}"


async def test_the_kth_same_ask_is_draw_k() -> None:
    async with recording_run(echo) as (run, _):
        first, other, second = await run.ask("a"), await run.ask("b"), await run.ask("a")
    assert [first.text, other.text, second.text] == ["a#0", "b#0", "a#1"]


async def test_branches_of_a_gather_take_turns_and_go_on_after_it() -> None:
    async with recording_run(echo) as (run, _):
        await run.ask("a")
        branches = await run.gather(run.ask("a") for _ in range(3))
        after = await run.ask("a")
    assert [branch.text for branch in branches] == ["a#1", "a#2", "a#3"]
    assert after.text == "a#4"


async def test_nested_branches_never_share_a_draw() -> None:
    async def branch(run: Run) -> list[str]:
        first = await run.ask("a")
        inner = await run.gather(run.ask("a") for _ in range(2))
        return [first.text, *(reply.text for reply in inner)]

    async with recording_run(echo) as (run, _):
        texts = await run.gather(branch(run) for _ in range(3))
        flat = [text for texts_of_one in texts for text in texts_of_one]
        later = await run.ask("a")
    assert len(set(flat)) == 9
    assert later.text not in flat


Tree = list["int | Tree"]
trees: st.SearchStrategy[Tree] = st.recursive(
    st.lists(st.integers(0, 2), max_size=3), lambda inner: st.lists(st.integers(0, 2) | inner, max_size=3), max_leaves=8
)


async def walk(run: Run, tree: Tree) -> list[str]:
    """Ask for the numbers of a tree in sequence, and gather its lists."""
    texts: list[str] = []
    for node in tree:
        if isinstance(node, int):
            texts.append((await run.ask(f"q{node}")).text)
        else:
            for branch in await run.gather([walk(run, node), walk(run, [0, *node])]):
                texts += branch
    return texts


@given(tree=trees, seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_any_program_draws_the_same_whatever_the_latencies(tree: Tree, seed: int) -> None:
    def delayed(rng: Random):
        async def reply(request: Request) -> str:
            await asyncio.sleep(rng.random())
            return echo(request)

        return reply

    async def one(rng: Random) -> list[str]:
        async with recording_run(delayed(rng)) as (run, _):
            return await walk(run, tree)

    first, second = run_virtual(one(Random(seed))), run_virtual(one(Random(seed + 1)))
    assert first == second
    assert len(set(first)) == len(first), "every ask is a draw of its own"


async def racing(run: Run) -> list[str]:
    """User code with tasks of its own: two chains that come to ask the same thing, in an order nobody knows."""

    async def chain(name: str) -> str:
        await run.ask(name)
        return (await run.ask("shared")).text

    return list(await asyncio.gather(chain("x"), chain("y")))


def test_racing_tasks_replay_the_draws_they_got() -> None:
    slow = {"x": 5.0, "y": 1.0}

    async def reply(request: Request) -> str:
        await asyncio.sleep(slow.get(request.messages[-1].content, 0.0))
        return echo(request)

    async def story() -> tuple[list[str], list[str]]:
        store = open_store("sqlite:///:memory:", Path())
        async with scripted_session(reply, store=store) as session:
            recording = await session.record("test")
            scope = new_scope(recording)
            first = await racing(Run(scope))
            await recording.journal.write(*scope.records())
            known = await (await session.record("test")).raced_draws(scope.subject, scope.identity)
            replay = await racing(Run(new_scope(recording, known_draws=known)))
        store.close()
        return first, replay

    first, replay = run_virtual(story())
    assert first == ["shared#1", "shared#0"], "the faster chain came first"
    assert replay == first, "on replay both chains are equally fast, and still get what they got"


def test_seconds_follow_the_critical_path_fresh_and_cached() -> None:
    async def reply(request: Request) -> str:
        await asyncio.sleep(float(request.messages[-1].content))
        return "ok"

    async def workflow(run: Run) -> None:
        await run.ask("1")
        await run.gather([run.ask("5"), run.gather([run.ask("2"), run.ask("3")])])
        await asyncio.gather(run.ask("7"), run.ask("4"))
        await run.ask("10")

    async def story() -> list[float]:
        seconds: list[float] = []
        async with scripted_session(reply) as session:
            for _ in range(2):
                scope = new_scope(await session.record("test"))
                await workflow(Run(scope))
                seconds.append(scope.root.finish())
        return seconds

    fresh, cached = run_virtual(story())
    assert abs(fresh - 23.0) < 1e-6
    assert cached == fresh


async def test_chance_is_the_same_on_every_replay_and_differs_between_branches() -> None:
    async def numbers(run: Run) -> list[float]:
        async def branch() -> float:
            return run.rng.random()

        return [run.rng.random(), *(await run.gather(branch() for _ in range(2)))]

    async with recording_run(echo) as (_, recording):
        first = await numbers(Run(new_scope(recording)))
        second = await numbers(Run(new_scope(recording)))
    assert first == second
    assert len(set(first)) == 3
