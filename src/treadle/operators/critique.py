"""A critic's word on one candidate."""

from __future__ import annotations

import re
from dataclasses import replace

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Message
from treadle.operators.candidate import Candidate
from treadle.operators.turns import Turns, plain_turns
from treadle.parsing.thinking import without_thinking

VERSION = 1
NOTHING = "NO CHANGES"
"""What a critic says when it finds nothing to mend; counts as its first or last line, with nothing else in it."""
_NOTHING = re.compile(rf"{NOTHING}(?: (?:are|is))?(?: (?:needed|necessary|required))?", re.IGNORECASE)
_MARKS = " \t*_`#>-.!\"'"
CRITIQUE = f"""\
Review the reply above as a strict but fair critic. Check it against the question, step by step: what is wrong, \
missing or unclear? Name only what must change and say why; do not write the reply anew. If nothing must change, \
answer with the one line: {NOTHING}"""


async def critique(problem: Problem, candidate: Candidate, *, run: Run, role: str = "critic") -> Candidate:
    """The candidate with what a critic says must change; without a critique when nothing must.

    A critic that says nothing at all counts as content; this is noted.

    Args:
        problem: What the candidate answers.
        candidate: The answer to review.
        run: Where the critic is asked.
        role: Who criticises.
    """
    run = run.child("critique")
    turns = (*reply_turns(problem, candidate), Message("user", CRITIQUE))
    completion = await run.ask(turns, role=role, draw=0, keep_truncated=True)
    words = without_thinking(completion.text).strip()
    if not words:
        run.note("fallback", reason="the critic said nothing", to="no changes")
    if not words or says_nothing_to_change(words):
        return replace(candidate, critique=None)
    return replace(candidate, critique=words)


def says_nothing_to_change(words: str) -> bool:
    """Whether a critic's first or last line is the stated word and nothing else (marks, case and "needed" ignored)."""
    lines = [line.strip(_MARKS) for line in words.splitlines() if line.strip()]
    return any(_NOTHING.fullmatch(line) for line in (*lines[:1], *lines[-1:]))


def reply_turns(problem: Problem, candidate: Candidate) -> Turns:
    """The problem's chat with the candidate as the reply."""
    return (*plain_turns(problem), Message("assistant", candidate.shown))
