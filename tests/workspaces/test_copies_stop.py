"""Copies that nobody wants any more end at once, between files and within one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from repositories import checkout_of, picture, repository

from treadle.workspaces import copying
from treadle.workspaces.checkout import Checkout
from treadle.workspaces.tree import Stop, StoppedError, entry_of

FILES = {f"d/{number}.txt": b"x\n" for number in range(40)}


async def _trial(checkout: Checkout) -> None:
    async with checkout.trial(b""):
        pass


async def _reset(checkout: Checkout) -> None:
    await checkout.reset()


@pytest.mark.parametrize("act", [_trial, _reset], ids=["trial", "reset"])
async def test_a_cancelled_copy_goes_on_with_no_further_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Checkout], Awaitable[None]]
) -> None:
    loop, cancelled, copied = asyncio.get_running_loop(), threading.Event(), list[str]()
    copy = copying.copy_file

    def later(turns: int) -> None:
        if turns:
            loop.call_soon(later, turns - 1)
        else:
            cancelled.set()

    async with checkout_of(repository(tmp_path / "r", FILES), tmp_path / "aside") as checkout:
        task = asyncio.ensure_future(act(checkout))

        def cancel() -> None:
            task.cancel()
            later(20)

        def watched(source: str, target: str, *rest: object, **options: object) -> None:
            if not copied:
                loop.call_soon_threadsafe(cancel)
                cancelled.wait()
            copied.append(target)
            copy(source, target, *rest, **options)  # pyright: ignore[reportArgumentType]

        monkeypatch.setattr(copying, "copy_file", watched)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(copied) == 1
        await checkout.reset()
        assert picture(checkout.workspace.folder) == picture(tmp_path / "r")


class Late(Stop):
    """Says so when it is asked for the third time."""

    asked = 0

    def is_set(self) -> bool:
        self.asked += 1
        return self.asked > 2


def test_a_large_file_is_copied_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "PIECE", 1000)
    monkeypatch.setattr(copying, "_CLONE", 0)
    source = tmp_path / "source"
    source.write_bytes(b"x" * 10_000)
    entry = entry_of(source.lstat())
    with pytest.raises(StoppedError):
        copying.copy_file(str(source), str(tmp_path / "half"), entry, stop=Late())
    assert (tmp_path / "half").read_bytes().count(b"x") == 2000
    copying.copy_file(str(source), str(tmp_path / "whole"), entry, stop=Stop())
    assert (tmp_path / "whole").read_bytes() == source.read_bytes()
