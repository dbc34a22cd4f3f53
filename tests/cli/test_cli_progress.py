"""The progress bar: on a terminal only, and never on stdout."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from treadle.cli.progress import progress_bar, spent
from treadle.ledger.tally import Tally
from treadle.models.base import Completion, Usage


def test_nothing_is_watched_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("eval") as watch:
        assert watch is None
    assert capsys.readouterr() == ("", "")


def test_spent_is_dollars_or_calls() -> None:
    priced, free = Tally(), Tally()
    priced.pay(Completion("4", Usage(10, output=5), usd=0.0021))
    free.pay(Completion("4", Usage(10, output=5)))
    assert (spent(priced), spent(free), spent(Tally())) == ("$0.0021", "1 call", "0 calls")


def test_a_terminal_sees_a_bar_on_stderr_while_stdout_stays_one_document(place: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "treadle.cli.main",
            "eval",
            "single",
            "--task",
            "jsonl:sums.jsonl",
            "--model",
            "adder",
            "--json",
        ],
        cwd=place,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    out, _ = process.communicate(timeout=30)
    drawn = b""
    try:
        while block := os.read(ours, 65536):
            drawn += block
    except OSError:  # the other side is gone
        pass
    os.close(ours)
    assert process.returncode == 0
    assert json.loads(out)["results"][0]["scored"] == 12
    assert "eval" in drawn.decode()
    assert "12/12" in drawn.decode()
    assert "$0.00024" in drawn.decode()
