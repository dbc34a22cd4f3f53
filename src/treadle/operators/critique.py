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
"""What a critic says when it finds nothing to mend; counts as its last line where nothing before it objects."""
_NOTHING = re.compile(rf"{NOTHING}(?: (?:are|is))?(?: (?:needed|necessary|required))?", re.IGNORECASE)
_MARKS = " \t*_`#>-.!\"'"
_FAULT = re.compile(
    r"\b(?:wrong|incorrect|inaccurate|errors?|mistakes?|mistaken|missing|misses|lacks?|unclear|must|should|needs?|fix|"
    r"however|but|instead|actually|omits?|fails?)\b|(?:\bnot|n['’]t)\s+(?:\w+\s+)?(?:right|correct|clear|true|complete|valid)\b",
    re.IGNORECASE,
)
_NO_FAULT = re.compile(r"(?:\b(?:no|not|nothing|none|never|without|any|free of)\b|n['’]t\b)[^,]*$", re.IGNORECASE)
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
    """Whether a critic ends with the stated word on a line of its own and objects to nothing before it.

    Marks, case and "needed" do not count. Objections are told by their words (``wrong``, ``must``, ``missing``, …)
    unless they are denied (``no errors``); where that is mistaken, a critique more is heard.

    Args:
        words: What the critic said.
    """
    lines = [line.strip(_MARKS) for line in words.splitlines() if line.strip(_MARKS)]
    if not lines or not _NOTHING.fullmatch(lines[-1]):
        return False
    return not any(_objects(sentence) for line in lines[:-1] for sentence in re.split(r"[.;!?]\s", line))


def _objects(sentence: str) -> bool:
    for fault in _FAULT.finditer(sentence):
        if " " in fault[0] or not _NO_FAULT.search(sentence, 0, fault.start()):
            return True
    return False


def reply_turns(problem: Problem, candidate: Candidate) -> Turns:
    """The problem's chat with the candidate as the reply."""
    return (*plain_turns(problem), Message("assistant", candidate.shown))
