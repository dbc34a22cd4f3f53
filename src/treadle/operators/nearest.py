"""The solved examples whose questions are most like a question."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run

Example = tuple[str, str]
_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_WITHOUT_SPACES = "\u2e80"
"""From this character on scripts mostly write no spaces between words."""
_LONGEST = 20_000


async def nearest(problem: Problem, examples: Sequence[Example], *, run: Run, k: int) -> tuple[Example, ...]:
    """Find the examples whose questions are most like the problem.

    Likeness is the cosine of TF-IDF weighted words (all numbers count as one word; scripts without spaces go by pairs
    of characters): lexical, without a model, and the same on every machine. An example that asks the very same
    question is left out, for it would give the answer away.

    Args:
        problem: The question.
        examples: Solved examples (question, answer).
        run: Where the choice is noted.
        k: How many to find.

    Returns:
        At most ``k`` examples, the nearest first; equally near ones in their own order.
    """
    pool = tuple(examples)
    question = str(problem)
    own = _normal(question)
    likeness = _index(pool).cosines(question)
    places = [place for place in range(len(pool)) if _normal(pool[place][0]) != own]
    best = sorted(places, key=lambda place: (-likeness.get(place, 0.0), place))[:k]
    run.child("nearest").note("nearest", likeness=[round(likeness.get(place, 0.0), 4) for place in best])
    return tuple(pool[place] for place in best)


@dataclass(frozen=True, slots=True)
class _Index:
    """Unit vectors of all questions, kept by word."""

    postings: Mapping[str, Sequence[tuple[int, float]]]
    rarity: Mapping[str, float]

    def cosines(self, text: str) -> dict[int, float]:
        """Likeness of a text to each question that shares anything with it."""
        sums: dict[int, float] = defaultdict(float)
        for word, weight in _weighted(_words(text), self.rarity).items():
            for place, other in self.postings.get(word, ()):
                sums[place] += weight * other
        # Sums of floats differ in their last digits by order; a tie must stay one.
        return {place: round(total, 9) for place, total in sums.items()}


@lru_cache(maxsize=32)
def _index(examples: tuple[Example, ...]) -> _Index:
    counts = [_words(question) for question, _ in examples]
    spread = Counter(word for count in counts for word in count)
    rarity = {word: math.log((1 + len(examples)) / (1 + found)) + 1.0 for word, found in spread.items()}
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, count in enumerate(counts):
        for word, weight in _weighted(count, rarity).items():
            postings[word].append((place, weight))
    return _Index(postings, rarity)


@lru_cache(maxsize=4096)
def _words(text: str) -> Mapping[str, int]:
    return Counter(_split(_normal(text)[:_LONGEST]))


def _split(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match.group()
        if word[0].isdecimal():
            yield "0"
        elif word[0] >= _WITHOUT_SPACES and len(word) > 1:
            yield from (word[start : start + 2] for start in range(len(word) - 1))
        else:
            yield word


def _weighted(count: Mapping[str, int], rarity: Mapping[str, float]) -> dict[str, float]:
    weights = {word: (1.0 + math.log(times)) * rarity[word] for word, times in count.items() if word in rarity}
    length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
    return {word: weight / length for word, weight in weights.items()} if length else {}


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())
