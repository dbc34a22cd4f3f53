"""Questions whose truth follows from their number, so that a simulated task and a simulated model agree without a file.

A question's text carries everything that makes it, so that a model finds it however a workflow wraps it. Nothing of
this measures a real model: the text says that it is a simulation.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

NORMAL = NormalDist()
_MARK = re.compile(
    r"\[simulated question (?P<number>\d+) of set (?P<seed>-?\d+): (?P<answers>\d+) answers, "
    r"difficulty (?P<difficulty>-?\d+(?:\.\d+)?)\]"
)


def uniform(*parts: object) -> float:
    """A number in (0, 1) that is a pure function of its arguments."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest) + 0.5) / 2**64


def normal(*parts: object) -> float:
    """A standard normal number that is a pure function of its arguments."""
    return NORMAL.inv_cdf(uniform(*parts))


@dataclass(frozen=True, slots=True)
class SimulatedQuestion:
    """One question of a simulated set.

    Args:
        seed: The set's seed.
        number: The question's number in its set, from 0.
        answers: How many answers it can have, from 2; two make wrong answers agree with each other.
        difficulty: In standard deviations of a model's ability; 0 is the middle, more is harder.
    """

    seed: int
    number: int
    answers: int = 2
    difficulty: float = 0.0

    @property
    def id(self) -> str:
        """Unique in its set."""
        return f"simulated-{self.seed}-{self.number}"

    @property
    def options(self) -> tuple[str, ...]:
        """The possible answers: letters, or numbers where the alphabet is too short."""
        return options(self.answers)

    @property
    def truth(self) -> str:
        """The right answer."""
        return self.options[int(uniform("truth", self.seed, self.number) * self.answers)]

    @property
    def text(self) -> str:
        """What is asked, with the mark by which it is found."""
        shown = ", ".join(self.options) if self.answers <= len(string.ascii_uppercase) else f"1 to {self.answers}"
        mark = f"[simulated question {self.number} of set {self.seed}: {self.answers} answers, "
        return f"Which of these is right: {shown}? {mark}difficulty {self.difficulty:.4f}]"


def simulated_questions(
    seed: int, size: int, *, answers: int = 2, spread: float = 0.0, start: int = 0
) -> list[SimulatedQuestion]:
    """Make a set of questions.

    Args:
        seed: Another seed is another set.
        size: How many questions.
        answers: How many answers each can have.
        spread: Standard deviation of their difficulty around 0.
        start: The first question's number.
    """
    return [
        SimulatedQuestion(seed, number, answers, round(spread * normal("difficulty", seed, number), 4))
        for number in range(start, start + size)
    ]


def find_question(texts: Iterable[str]) -> SimulatedQuestion | None:
    """The question that texts are about: the last one marked in them (solved examples stand before it)."""
    marks = [mark for text in texts for mark in _MARK.finditer(text)]
    if not marks:
        return None
    found = marks[-1]
    return SimulatedQuestion(
        int(found["seed"]), int(found["number"]), max(2, int(found["answers"])), float(found["difficulty"])
    )


@lru_cache(maxsize=64)
def options(answers: int) -> tuple[str, ...]:
    """The names of so many answers."""
    if answers <= len(string.ascii_uppercase):
        return tuple(string.ascii_uppercase[:answers])
    return tuple(str(number) for number in range(1, answers + 1))
