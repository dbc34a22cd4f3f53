from __future__ import annotations

import os
import subprocess
import sys

import pytest

from treadle.store.owner import is_alive, owner

ASK = "from treadle.store.owner import owner; print(owner(), flush=True); input()"


def other_process() -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", ASK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_this_process_is_alive_and_always_has_the_same_name() -> None:
    assert owner() == owner()
    assert is_alive(owner())


def test_another_process_lives_until_it_ends_even_as_a_zombie() -> None:
    process, name = other_process()
    assert name != owner()
    assert is_alive(name)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(name), "a zombie was taken for alive"
    process.communicate()
    assert not is_alive(name)


def test_a_later_process_with_the_same_pid_is_not_the_owner() -> None:
    host, pid, start = owner().rsplit(":", 2)
    assert not is_alive(f"{host}:{pid}:{start}0")
    assert is_alive(f"{host}:{pid}:"), "without a start only the pid can be asked"


def test_a_process_of_another_host_counts_as_alive() -> None:
    _, pid, start = owner().rsplit(":", 2)
    assert is_alive(f"somewhere-else:{pid}:{start}")


@pytest.mark.parametrize(
    "name", ["", ":", "::", "host", "host:x:1", "host:0:1", ":12:1", "host:²:1", f"host:-1:{'9' * 9}"]
)
def test_a_name_that_was_never_written_counts_as_dead(name: str) -> None:
    assert not is_alive(name)


def test_a_pid_beyond_every_system_is_dead() -> None:
    host = owner().rsplit(":", 2)[0]
    assert not is_alive(f"{host}:{10**30}:")
    assert not is_alive(f"{host}:{10**30}:1")
