"""A folder with a scripted model and a small task, and the command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from treadle.cli.main import main

SCRIPT = '''\
import re

def reply(request):
    """Adds; wrong for every third number, and for another third in every other draw."""
    question = [message.content for message in request.messages if message.role == "user"][-1]
    first, second = (int(number) for number in re.findall(r"\\d+", question)[:2])
    right = (first + request.draw % 7) % 3
    return {"text": f"The answer is {first + second if right else 0}", "usage": {"input": 10, "output": 5}}
'''

CONFIG = """\
[models.adder]
model = "scripted:adder.py"
price = { input = 1.0, output = 2.0 }
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a treadle.toml with the alias adder, and sums.jsonl with twelve sums."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "adder.py").write_text(SCRIPT)
    (tmp_path / "treadle.toml").write_text(CONFIG)
    rows = [f'{{"id": "s{n}", "input": "What is {n} + 2?", "target": {n + 2}}}\n' for n in range(1, 13)]
    (tmp_path / "sums.jsonl").write_text("".join(rows))
    return tmp_path


@pytest.fixture
def treadle(place: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command line and gives exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return run
