"""What ``treadle fix`` costs beside its models: wall clock and memory of whole processes, models that answer at once.

The manager explores once with two tasks, plans and approves; the worker makes one change. Each run is a process of its
own on a fresh store, so that nothing is cached; the test command is left out, for it is the repository's own time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

_MODELS = """\
def reply(request):
    asked = request.messages[-1].content
    if request.messages[0].content.startswith("You direct"):
        if "APPROVE" in asked:
            return "APPROVE"
        return "Add a line." if "Write the plan" in asked else "READY" if "READY" in asked else "TASK: a\\nTASK: b"
    if asked.startswith("["):
        return "done"
    if "Answer with a report" in request.messages[1].content:
        return "```bash\\nls; git log --oneline | head -3\\n```"
    return "```bash\\necho '# changed' >> {file}\\n```"
"""


def main() -> None:
    """Measure and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", type=Path, help="a repository; it is not changed")
    parser.add_argument("file", help="a tracked file of it that the worker changes")
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    runs = [one(given.repo.absolute(), given.file) for _ in range(given.runs)]
    seconds, inside, mib = zip(*runs, strict=True)
    print(
        json.dumps(
            {
                "runs": given.runs,
                "process_s": {"median": round(statistics.median(seconds), 2), "max": round(max(seconds), 2)},
                "run_s": {"median": round(statistics.median(inside), 2), "max": round(max(inside), 2)},
                "peak_mib": round(max(mib)),
            }
        )
    )


def one(repo: Path, file: str) -> tuple[float, float, float]:
    """Wall clock of the process and of its run, and the most memory of one process, in seconds and MiB."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "models.py").write_text(_MODELS.replace("{file}", file))
        (place / "treadle.toml").write_text('[models.m]\nmodel = "scripted:models.py"\n')
        (place / "issue.md").write_text("Something is wrong.\n")
        words = ["fix", "--repo", str(repo), "--issue", "issue.md", "--model", "m", "--json"]
        out = os.open(place / "out.json", os.O_WRONLY | os.O_CREAT)
        begun = os.times().elapsed
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", _IN.format(place=folder), *words],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)],
        )
        _, status, usage = os.wait4(pid, 0)
        seconds = os.times().elapsed - begun
        os.close(out)
        document = json.loads((place / "out.json").read_text())
        assert status == 0
        assert document["status"] == "patched", document
        return seconds, document["seconds"], usage.ru_maxrss / 1024


_IN = "import os, sys; os.chdir({place!r}); from treadle.cli.main import main; sys.exit(main())"

if __name__ == "__main__":
    main()
