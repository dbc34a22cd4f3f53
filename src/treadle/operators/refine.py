"""Writing a candidate anew in the light of its critique."""

from __future__ import annotations

from treadle.errors import TruncatedError
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Message
from treadle.operators.candidate import Candidate
from treadle.operators.critique import reply_turns
from treadle.operators.turns import tagged
from treadle.parsing.templates import Template

VERSION = 1
REFINE = Template("""\
Write the reply above anew with the points of this review mended, and keep what was right. Give the whole new reply, \
in the form that the question asks for, and not a word about the review.

{critique}""")


async def refine(problem: Problem, candidate: Candidate, *, run: Run, role: str | None = None) -> Candidate:
    """The candidate written anew, with its critique worked in.

    A new text that is empty or cut by its token limit is dropped and noted; the candidate then stays as it was.

    Args:
        problem: What the candidate answers.
        candidate: An answer with a critique.
        run: Where the call is made.
        role: Who writes.
    """
    run = run.child("refine")
    asked = Message("user", REFINE.fill(critique=tagged("review", candidate.critique or "")))
    try:
        completion = await run.ask((*reply_turns(problem, candidate), asked), role=role, draw=0)
    except TruncatedError as error:
        run.note("fallback", reason=str(error), to="the text before")
        return candidate
    better = candidate.revised(completion.text)
    if not better.shown:
        run.note("fallback", reason="the new reply says nothing", to="the text before")
        return candidate
    return better
