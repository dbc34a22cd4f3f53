"""A repository with a defect beside a treadle.toml whose scripted models manage and work."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Command = Callable[..., tuple[int, str, str]]
MODELS = '''\
from pathlib import Path


def reply(request):
    """Plays the manager where the rules say so, else the worker."""
    asked = request.messages[-1].content
    if request.messages[0].content.startswith("You direct"):
        if "APPROVE" in asked:
            return "APPROVE" if "+    return 2 * x" in asked else "REVISE\\nIn calc.py return 2 * x."
        return "In calc.py return 2 * x." if "Write the plan" in asked else "READY"
    if asked.startswith("[") or request.messages[-1].role == "tool":
        if Path(__file__).with_name("dies").exists():
            raise OSError("the line is dead")
        return "done"
    return Path(__file__).with_name("worker.txt").read_text()
'''
CONFIG = """
[models.big]
model = "scripted:models.py"
price = { input = 10.0, output = 20.0 }
[models.small]
model = "scripted:models.py"
price = { input = 1.0, output = 2.0 }
retries = 0
[roles]
strong = "big"
weak = "small"
"""
FIX = "```bash\nsed -i 's/x + 1/2 * x/' calc.py\n```"
WRONG = "```bash\nsed -i 's/x + 1/x + 3/' calc.py\n```"
TEST = "python3 -c 'import calc; assert calc.double(2) == 4'"


def git(folder: Path, *words: str) -> str:
    """What a git command says."""
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def make_repository(place: Path, name: str = "repo") -> Path:
    """Write everything into a folder; gives the repository.

    Args:
        place: The folder.
        name: What the repository is called.
    """
    (place / "models.py").write_text(MODELS)
    (place / "worker.txt").write_text(FIX)
    (place / "treadle.toml").write_text(CONFIG)
    (place / "issue.md").write_text("# double is wrong\n\ndouble(2) gives 3.\n")
    path = place / name
    path.mkdir()
    (path / "calc.py").write_text("def double(x):\n    return x + 1\n")
    git(path, "init", "-q")
    git(path, "add", "-A")
    git(path, "commit", "-qm", "start")
    return path
