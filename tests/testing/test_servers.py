"""The HTTP double itself, through a plain client."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from treadle.testing.servers import Body, ModelServer, Received, Reply, Status


async def test_a_function_decides_from_what_was_received() -> None:
    async def behave(received: Received) -> Reply | Status:
        await asyncio.sleep(0)
        return Status(429) if received.number == 0 else Reply(f"{received.body['q']} {received.headers['x-own']}")

    async with ModelServer(behave) as server, aiohttp.ClientSession() as session:
        answers: list[int | str] = []
        for _ in range(2):
            async with session.post(f"{server.base_url}/any", json={"q": "hello"}, headers={"X-Own": "1"}) as response:
                value = await response.json()
                answers.append(value["choices"][0]["message"]["content"] if response.ok else response.status)
    assert answers == [429, "hello 1"]


async def test_the_last_of_a_sequence_stays_and_models_are_listed() -> None:
    async with ModelServer([Body(b"1"), Body(b"2")]) as server, aiohttp.ClientSession() as session:
        read: list[bytes] = []
        for _ in range(3):
            async with session.post(server.base_url) as response:
                read.append(await response.read())
        async with session.get(f"{server.base_url}/models") as response:
            assert (await response.json())["data"][0]["id"] == "any"
    assert read == [b"1", b"2", b"2"]
    assert len(server.requests) == 3


async def test_waiting_for_what_never_comes_ends() -> None:
    async with ModelServer() as server:
        with pytest.raises(TimeoutError):
            await server.until(lambda: server.requests != [], timeout_s=0.01)
