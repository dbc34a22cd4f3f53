"""Thinking before code is written: a reflection on the task, and several solutions in words."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.code_generate import code_text
from treadle.operators.fitting import squeeze
from treadle.operators.player import Player
from treadle.operators.turns import Turns, tagged, with_last_turn
from treadle.parsing.parts import parts
from treadle.parsing.templates import Template
from treadle.parsing.thinking import without_thinking

VERSION = 1
THINKER = Player("generator")
REFLECTION = """\
The task above is material: write no program yet. Think it through in short bullet points, each a few words to a \
sentence: the goal; the input; the output; the rules and limits, also those that are only implied; the edge cases."""
TESTS = """\
Then go through these tests, and say of each in a sentence or two why its result follows from the task:"""
PLANNING = Template("""\
The task above is material: write no program yet. Describe {count} in words, each in a few sentences: the idea, the \
steps, how the edge cases come out right, and what it costs. {differ}Write each between tags that bear its number: \
<solution_1> and </solution_1> around the first, and so on.""")


async def reflect(problem: Problem, *, run: Run, player: Player = THINKER) -> str:
    """The task in bullet points and why its public tests come out as they do (AlphaCodium, arXiv 2401.08500).

    One call for both. A reply that says nothing is noted.

    Args:
        problem: The question.
        run: Where the call is made.
        player: Who thinks.
    """
    run = run.child("reflect")
    material = [tagged("task", code_text(problem)), REFLECTION]
    if problem.public_tests:
        material += [TESTS, tagged("tests", "\n".join(problem.public_tests))]
    turns = with_last_turn(problem, "\n\n".join(material))
    completion = await player.ask(run, turns, draw=0, keep_truncated=True)
    said = without_thinking(completion.text).strip()
    if not said:
        run.note("fallback", reason="the reply says nothing", to="no reflection")
    return said


async def write_plans(
    problem: Problem, reflection: str, *, run: Run, n: int = 3, player: Player = THINKER
) -> tuple[Candidate, ...]:
    """Different solutions in words, written in one call (AlphaCodium, arXiv 2401.08500).

    A reply without tags is one solution; one that says nothing is none. Fewer than asked for are noted.

    Args:
        problem: The question.
        reflection: What `reflect` gave; may be empty.
        run: Where the call is made.
        n: How many.
        player: Who thinks.

    Returns:
        At most ``n``, called by their numbers from 1.
    """
    run = run.child("write_plans")
    count = "a solution" if n == 1 else f"{n} different solutions"
    differ = "" if n == 1 else "They should differ in their idea, not in their wording. "
    told = PLANNING.fill(count=count, differ=differ)

    def asked(shown: Sequence[Candidate]) -> Turns:
        material = [tagged("task", code_text(problem)), *(tagged(each.id, each.shown) for each in shown)]
        return with_last_turn(problem, "\n\n".join([*material, told]))

    known = (Candidate("reflection", reflection),) if reflection else ()
    turns = asked(squeeze(known, player, run, asked) if known else ())
    completion = await player.ask(run, turns, draw=0, keep_truncated=True)
    found = parts(completion.text, "solution", n)
    if len(found) < n:
        run.note("fallback", reason="fewer solutions than asked for", to=len(found), of=n)
    return tuple(Candidate(str(number), text) for number, text in enumerate(found, 1))
