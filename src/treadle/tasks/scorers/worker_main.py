"""The child process of graders whose work can hang: one JSON job a line in, one JSON reply a line out.

Run as a script, by path, so that it starts without importing the package; it knows nothing but its own job kinds, gets
no keys in its environment, and its memory and processor time are limited where the system can do that.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, cast

Job = dict[str, Any]

MEMORY = 3 * 2**30


def limit_memory() -> None:
    """Cap the address space, where the system can."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        return


def limit_time(seconds: float) -> None:
    """Let the system kill this process after so much processor time, should nobody else do it; 0 lifts the limit."""
    try:
        import signal

        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
    except (ImportError, AttributeError, ValueError, OSError):
        return


def open_math() -> Callable[[Job], Any]:
    """Whether two LaTeX answers are equal, by math-verify, in either direction."""
    import logging

    import math_verify
    from math_verify.parser import LatexExtractionConfig

    logging.disable(logging.CRITICAL)
    # Its own limits count on signals; here the parent kills the process instead.
    library: Any = math_verify
    config = [LatexExtractionConfig()]

    def read(text: str) -> list[Any]:
        return library.parse(f"${text}$", extraction_config=config, parsing_timeout=None, raise_on_error=False)

    def equal(job: Job) -> bool:
        a, b = read(job["a"]), read(job["b"])
        return library.verify(a, b, timeout_seconds=None) or library.verify(b, a, timeout_seconds=None)

    return equal


def open_regex() -> Callable[[Job], Any]:
    """The last match of a pattern: its first group, or all of it; ``None`` without one."""
    import re

    def last(job: Job) -> str | None:
        found: re.Match[str] | None = None
        for match in re.compile(str(job["pattern"]), re.MULTILINE).finditer(str(job["text"])):
            found = match
        if found is None:
            return None
        groups: tuple[str | None, ...] = found.groups()
        return next((group for group in groups if group is not None), found.group())

    return last


class Puzzles:
    """The data sets of reasoning-gym, opened when first asked for; every entry is made once."""

    def __init__(self) -> None:
        import warnings

        warnings.simplefilter("ignore")
        import reasoning_gym
        from reasoning_gym import factory

        self._library: Any = reasoning_gym
        self._kinds: dict[str, tuple[Any, Any]] = cast(Any, factory).DATASETS
        self._opened: dict[str, Any] = {}
        self._entries: dict[tuple[str, int], Any] = {}

    def names(self, _: Job) -> list[str]:
        """All data sets."""
        return sorted(self._kinds)

    def settings(self, job: Job) -> list[str]:
        """The settings of one data set."""
        return sorted(self._kinds[job["name"]][1].__dataclass_fields__)

    def questions(self, job: Job) -> list[list[Any]]:
        """Question and answer of every entry."""
        rows = (self._entry(job, index) for index in range(job["config"]["size"]))
        return [[row["question"], row["answer"]] for row in rows]

    def score(self, job: Job) -> float | bool:
        """The verifier's score, or false when the entry has another question."""
        row = self._entry(job, job["index"])
        if row["question"] != job["question"]:
            return False
        return float(self._opened[self._key(job)].score_answer(job["answer"], row))

    def _key(self, job: Job) -> str:
        key = json.dumps([job["name"], job["config"]], sort_keys=True)
        if key not in self._opened:
            self._opened[key] = self._library.create_dataset(job["name"], **job["config"])
        return key

    def _entry(self, job: Job, index: int) -> Any:
        import random

        import numpy

        key = self._key(job)
        if (key, index) not in self._entries:
            # Some generators draw from the global sources beside their own seeded one.
            random.seed(f"{key} {index}")
            numpy.random.seed(index)
            self._entries[key, index] = self._opened[key][index]
        return self._entries[key, index]


def open_reasoning_gym() -> Callable[[Job], Any]:
    """Questions of a reasoning-gym data set, and its own verdicts on answers."""
    puzzles = Puzzles()

    from treadle.tasks.scorers.guarded_eval import install_guard

    install_guard()
    verbs: dict[str, Callable[[Job], Any]] = {
        "names": puzzles.names,
        "settings": puzzles.settings,
        "questions": puzzles.questions,
        "score": puzzles.score,
    }
    return lambda job: verbs[job["verb"]](job)


KINDS = {"math": open_math, "regex": open_regex, "reasoning-gym": open_reasoning_gym}


def main() -> None:
    """Answer jobs until the input ends."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    limit_memory()

    def reply(value: dict[str, Any]) -> None:
        replies.write(json.dumps(value).encode() + b"\n")

    try:
        work = KINDS[sys.argv[1]]()
    except ImportError as error:
        reply({"missing": str(error)})
        return
    reply({"ready": True})
    for line in sys.stdin.buffer:
        job = json.loads(line)
        limit_time(job["seconds"] * 2 + 1)
        try:
            answer = {"value": work(job)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        limit_time(0)
        reply(answer)


if __name__ == "__main__":
    main()
