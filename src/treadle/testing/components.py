"""A model that plays every component by the book: usable replies, all different, everything passes, orders are kept."""

from __future__ import annotations

import hashlib
import re

from treadle.models.base import Request

_CANDIDATE = re.compile(r"^<candidate_(\d+)>$", re.MULTILINE)
_CHECK = re.compile(r"^(\d+)\. ", re.MULTILINE)
STATEMENTS = 5


def by_the_book(request: Request) -> str:
    """A reply that a component can use.

    Rankers keep the order they are shown, verifiers and checks pass everything, and any two different requests or draws
    get different texts: what `treadle.workflows.archon.structure.distinct_calls` takes for granted.

    Args:
        request: What was asked; the words that state the reply's form say who is meant.
    """
    asked = request.messages[-1].content
    shown = len(_CANDIDATE.findall(asked))
    mark = _mark(request)
    if '"Ranking: a > b > c"' in asked:
        return f"{mark}\nRanking: {' > '.join(str(number) for number in range(1, shown + 1))}"
    if "Strengths: " in asked and "Weaknesses: " in asked and "<critique_1>" in asked.rpartition("</candidate_")[2]:
        return "\n".join(
            f"<critique_{number}>\nStrengths: {mark}\nWeaknesses: {number}\n</critique_{number}>"
            for number in range(1, shown + 1)
        )
    if '"Verdict: correct"' in asked:
        return f"{mark}\nVerdict: correct"
    if "numbered list of check statements" in asked:
        return "\n".join(f"{number}. It says {mark} {number}." for number in range(1, STATEMENTS + 1))
    if '"1: pass"' in asked:
        return "\n".join(f"{number}: pass" for number in sorted({int(each) for each in _CHECK.findall(asked)}))
    if '"Best: n"' in asked:
        return f"{mark}\nBest: 1"
    return f"a reply, {mark}"


def _mark(request: Request) -> str:
    digest = hashlib.blake2b(f"{request.model}#{request.draw}".encode(), digest_size=8)
    for turn in request.messages:
        digest.update(f"{turn.role}:{turn.content}\n".encode("utf-8", "surrogatepass"))
    digest.update(repr(sorted(request.settings.items())).encode())
    return digest.hexdigest()
