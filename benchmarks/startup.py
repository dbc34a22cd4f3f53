"""Seconds until `import treadle` and `treadle --help` are done: the best of several runs, each in a new process.

python benchmarks/startup.py
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import treadle": [sys.executable, "-c", "import treadle"],
    "treadle --help": [str(Path(sys.executable).with_name("treadle")), "--help"],
}
WANTED = {"import treadle": 0.3, "treadle --help": 0.4}


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    for name, command in COMMANDS.items():
        runs = sorted(seconds(command) for _ in range(9))
        wanted = f", wanted ≤ {WANTED[name]} s" if name in WANTED else ""
        print(f"{name:16} {runs[0]:.3f} s best, {runs[4]:.3f} s median{wanted}")


if __name__ == "__main__":
    main()
