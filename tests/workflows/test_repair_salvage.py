"""A patch that a repair came to is never lost, and never made worse, by what ends the work."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from repair_stage import FIX, WRONG, made, manager, play, worker

from treadle.errors import ProviderError
from treadle.models.base import Request
from treadle.models.scripted import Scripted
from treadle.workspaces.base import Patch, Repository, Tested
from treadle.workspaces.checkout import Checkout


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a defect and a test file."""
    return made(tmp_path)


def ended(request: Request) -> Scripted:
    """A worker that edits, and then cannot go on."""
    if request.messages[-1].content.startswith("["):
        raise ProviderError("the model is gone")
    return worker()(request)


async def test_a_second_cancellation_does_not_lose_what_the_first_one_saves(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, edited, saving, go_on = Checkout.patch, asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(self: Checkout) -> Patch:
        if edited.is_set():
            saving.set()
            await go_on.wait()
        return await read(self)

    async def small(request: Request) -> Scripted:
        if request.messages[-1].content.startswith("["):
            edited.set()
            await asyncio.Event().wait()
        return worker()(request)

    monkeypatch.setattr(Checkout, "patch", slow)
    async with play(repository, manager(), small, mode="weak") as (on, act):
        task = asyncio.ensure_future(act())
        await edited.wait()
        task.cancel()
        await saving.wait()
        task.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert "2 * x" in on.course.patch.text


@pytest.mark.parametrize("fault", [ProviderError("git failed"), OSError(28, "No space left on device")])
async def test_what_fails_while_saving_is_noted_and_does_not_stand_for_what_ended_the_work(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    read = Checkout.patch
    calls = 0

    async def failing(self: Checkout) -> Patch:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise fault
        return await read(self)

    monkeypatch.setattr(Checkout, "patch", failing)
    async with play(repository, manager(), ended, mode="weak") as (on, act):
        with pytest.raises(ProviderError, match="the model is gone"):
            await act()
        assert str(fault) in on.stage.notes("not salvaged")[0]["reason"]


async def test_a_test_that_fails_in_the_end_does_not_stand_for_what_ended_the_work(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_: object) -> Tested:
        raise ProviderError("the sandbox broke")

    monkeypatch.setattr(Checkout, "test", failing)
    async with play(repository, manager(), ended, mode="weak") as (on, act):
        with pytest.raises(ProviderError, match="the model is gone"):
            await act()
        assert on.stage.notes("not tested")[0]["reason"] == "the sandbox broke"
    assert "2 * x" in on.course.patch.text
    assert on.course.tested is None


async def test_files_that_are_just_being_brought_back_are_no_patch(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = asyncio.Event()

    async def reset(self: Checkout) -> None:
        (self.workspace.folder / "calc.py").unlink()
        half.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Checkout, "reset", reset)
    big = manager("REVISE\nWrite 2 * x.", "APPROVE")
    async with play(repository, big, worker(WRONG, FIX), strict_from="clean") as (on, act):
        task = asyncio.ensure_future(act())
        await half.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert "x + 3" in on.course.patch.text
    assert [each.change for each in on.course.patch.files] == ["modified"]
