"""Writing programs: several drafts at once, each read as the whole program that was asked for."""

from __future__ import annotations

from dataclasses import replace

from treadle.errors import SampleBudgetError, SampleFailure
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.operators.candidate import Candidate
from treadle.operators.fitting import followed
from treadle.operators.generate import Attempt, generate_each
from treadle.operators.player import Player
from treadle.operators.turns import Turns, question_text, tagged, task_text, with_last_turn
from treadle.parsing import reply_programs
from treadle.parsing.fences import fenced
from treadle.parsing.templates import Template
from treadle.parsing.thinking import without_thinking

VERSION = 1
WRITER = Player("generator")
FORM = """\
Write the whole program in Python: the complete function with its first line, all imports, and whatever else it uses. \
It reads no input and prints nothing. Give it in one block between ```python and ```."""
NAMED = Template("The program must define `{entry_point}`.")
PUBLIC = Template("It must pass these tests:\n\n{tests}")
AGAIN = Template("{fault} Reply with the whole program in one block between ```python and ```, and nothing else.")


async def code_generate(
    problem: Problem, *, run: Run, n: int = 1, turns: Turns | None = None, player: Player = WRITER
) -> tuple[Candidate, ...]:
    """Draw several programs, all at once.

    The text of a candidate is its program alone, as a fenced block. A reply that holds none, one that is no valid
    Python or one that lacks the entry point is followed by one more ask. Where that is of no use either the candidate
    is left out, and where all are such they stay as the replies they are; both are noted.

    Args:
        problem: The question.
        run: Where the calls are made.
        n: How many: draws 0 to n - 1.
        turns: What to send in place of `code_turns`.
        player: Who writes.

    Returns:
        The candidates in the order of their draws, called by their draw numbers; at least one.

    Raises:
        SampleFailure: The first failure, when every draw failed.
        SampleBudgetError: When the question's own cap did not cover all draws.
    """
    run = run.child("code_generate")
    asked = code_turns(problem) if turns is None else turns
    drafts = await generate_each([Attempt(str(draw), asked, draw, player) for draw in range(n)], run=run)
    results = await run.settle(_read(problem, draft, asked, n, run, player) for draft in drafts)
    written: list[Candidate] = []
    for draft, result in zip(drafts, results, strict=True):
        if isinstance(result, SampleBudgetError):
            # Which programs a cap lets be mended is chance; a choice made of that would be too.
            raise result
        if isinstance(result, Candidate):
            written.append(result)
            continue
        failure = result.failure if isinstance(result, SampleFailure) else "format"
        run.note("dropped", candidate=draft.id, failure=failure, reason=str(result))
    if not written:
        run.note("fallback", reason="no reply holds the program", to="the replies as they are")
    return tuple(written) or drafts


async def _read(problem: Problem, draft: Candidate, asked: Turns, n: int, run: Run, player: Player) -> Candidate | str:
    """The candidate as its program, after one more ask where that is needed; else what is wrong."""
    written = as_program(problem, draft)
    if written is not None:
        return written
    run.note("asked again", candidate=draft.id, reason=fault(problem, draft.text))
    words = AGAIN.fill(fault=fault(problem, draft.text) or "")
    turns = followed(asked, draft.text, words, player, run)
    completion = await player.ask(run, turns, draw=n + int(draft.id))
    return as_program(problem, replace(draft, text=completion.text)) or fault(problem, completion.text) or ""


def code_turns(problem: Problem) -> Turns:
    """The problem's chat, asked so that the reply is a program.

    The task's sentence on how to write the answer stands, else `FORM`. Where the question does not name the function
    that is wanted, its name and the public tests follow, so that its parameters are known.

    Args:
        problem: The question.
    """
    return with_last_turn(problem, code_text(problem))


def code_text(problem: Problem) -> str:
    """The last turn of the user of `code_turns`.

    Args:
        problem: The question.
    """
    text = task_text(problem, FORM)
    name = problem.entry_point
    if name is None or name in question_text(problem):
        return text
    told = [text, NAMED.fill(entry_point=name)]
    if problem.public_tests:
        told.append(PUBLIC.fill(tests=tagged("tests", "\n".join(problem.public_tests))))
    return "\n\n".join(told)


def program_of(problem: Problem, text: str) -> str | None:
    """The whole program of a reply, completed by the head that the question gives (field ``header``).

    Args:
        problem: The question.
        text: A reply.
    """
    return reply_programs.program(text, problem.entry_point, str(problem.fields.get("header") or ""))


def fault(problem: Problem, text: str) -> str | None:
    """What is wrong with the program of a reply, in a sentence; ``None`` where nothing is.

    Args:
        problem: The question.
        text: A reply.
    """
    return reply_programs.fault(program_of(problem, text), problem.entry_point)


def as_program(problem: Problem, candidate: Candidate) -> Candidate | None:
    """The candidate with its program for a text, as a fenced block; ``None`` where it has no sound one.

    Args:
        problem: What it answers.
        candidate: A reply.
    """
    program = program_of(problem, candidate.text)
    if program is None or reply_programs.fault(program, problem.entry_point) is not None:
        return None
    return replace(candidate, text=fenced(program))


def source(problem: Problem, candidate: Candidate) -> str:
    """What is run of a candidate: its program, or all that it says where it has none.

    Args:
        problem: What it answers.
        candidate: A reply.
    """
    program = program_of(problem, candidate.text)
    return without_thinking(candidate.text) if program is None else program
