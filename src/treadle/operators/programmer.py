"""Computing an answer: a program is written and run, and what it returns is the answer."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.models.base import Completion
from treadle.operators.fitting import followed
from treadle.operators.player import Player
from treadle.operators.turns import Turns, tagged, task_text, with_last_turn
from treadle.parsing.reply_programs import fault, program
from treadle.parsing.templates import Template
from treadle.sandbox.base import ExecResult, Limits, Program

VERSION = 1
TRIES = 3
ENTRY_POINT = "solve"
WRITER = Player("generator")
WRITING = """\
Write a Python program that works out the answer to the task. It defines a function `solve()` without parameters, \
which computes the answer step by step, with variables named for what they are, and returns it. What it returns is the \
final answer itself, without a word around it: a number as a number, anything else as a text in the form that the task \
wants. The program has the standard library (numpy and sympy may be missing), no input, no files and no network. Give \
it in one block between ```python and ```."""
ERROR = Template("""\
The program was run, and gave no answer:

{error}

Find the mistake, and write the whole program anew, in one block between ```python and ```.""")
AGAIN = Template("{fault} Write the whole program, with `solve()`, in one block between ```python and ```.")
_MOST = 4000
_OBJECT = re.compile(r"<[^<>]* at 0x[0-9a-fA-F]+>")
_ENDING = Template("\n\nprint(f'\\n{mark}\\n{{solve()}}\\n{mark}', flush=True)\n")


@dataclass(frozen=True, slots=True)
class Programmed:
    """What came of a program.

    Attributes:
        code: The last program; empty where none was written.
        output: What it returned, as text; where it returned nothing, what went wrong.
        ok: Whether it returned something.
    """

    code: str
    output: str
    ok: bool


async def programmer(
    problem: Problem,
    *,
    run: Run,
    analysis: str = "",
    tries: int = TRIES,
    player: Player = WRITER,
    instruction: str | None = None,
    limits: Limits | None = None,
) -> Programmed:
    """The value of a function ``solve()`` that is written for a question and run (AFlow's Programmer, 2410.10762).

    Each try is one call; a program that fails, takes too long or returns nothing is followed by another that sees it
    with its error, and so is a reply without a sound program. What the program prints plays no part.

    Args:
        problem: The question.
        run: Where the writer is asked and the program is run.
        analysis: What is known of the solution already; shown to the writer.
        tries: How many programs are written at most, from 1.
        player: Who writes.
        instruction: What to write, in place of `WRITING`.
        limits: Of each run; those of the sandbox where they are not given.
    """
    run = run.child("programmer")
    first = _turns(problem, analysis, instruction or WRITING)
    turns, result = first, Programmed("", "", False)
    for attempt in range(tries):
        completion = await player.ask(run, turns, draw=attempt, keep_truncated=True)
        result, words = await _executed(completion, run, limits)
        if result.ok:
            break
        run.note("failed", attempt=attempt, reason=result.output[:300])
        turns = followed(first, completion.text, words, player, run)
    return result


def _turns(problem: Problem, analysis: str, told: str) -> Turns:
    material = [tagged("task", task_text(problem))]
    if analysis.strip():
        material.append(tagged("analysis", analysis))
    return with_last_turn(problem, "\n\n".join([*material, told]))


async def _executed(completion: Completion, run: Run, limits: Limits | None) -> tuple[Programmed, str]:
    """What came of the program in a reply, and what to say of it where it gave no answer."""
    code = program(completion.text, ENTRY_POINT)
    wrong = "The reply was cut: be shorter." if completion.finish_reason == "length" else fault(code, ENTRY_POINT)
    if code is None or wrong is not None:
        return Programmed(code or "", wrong or "", False), AGAIN.fill(fault=wrong or "")
    result = await run_program(code, run=run, limits=limits)
    return result, ERROR.fill(error=tagged("error", result.output))


async def run_program(code: str, *, run: Run, limits: Limits | None = None) -> Programmed:
    """Run a program and read what its function ``solve()`` returns.

    Args:
        code: Python that defines ``solve``.
        run: Where it is run.
        limits: What it may take; the sandbox's own where they are not given.
    """
    mark = f"solve() returned {hashlib.sha256(code.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"
    result = await run.sandbox.execute(Program(code + _ENDING.fill(mark=mark)), limits=limits)
    pieces = result.stdout.split(f"\n{mark}\n")
    value = pieces[-2].strip() if len(pieces) > 2 else ""
    run.note("executed", status=result.status, output=value[:300])
    if result.status != "ok" or len(pieces) < 3:
        return Programmed(code, _wrong(result), False)
    if not value or value == "None":
        return Programmed(code, "solve() returned nothing.", False)
    if _OBJECT.fullmatch(value):
        return Programmed(code, f"solve() returned {value}, which is no answer.", False)
    if len(value) > _MOST:
        return Programmed(code, f"solve() returned {len(value)} characters, which is no answer.", False)
    return Programmed(code, value, True)


def _wrong(result: ExecResult) -> str:
    words = {
        "ok": "The program ended, or hid its output, before solve() returned.",
        "timed_out": "It took too long",
        "out_of_memory": "It wanted too much memory",
        "refused": "It was not run",
        "crashed": "Its process was killed",
    }
    said = words.get(result.status, "")
    if result.reason:
        said = f"{said}: {result.reason}" if said else result.reason
    return "\n".join(part for part in (said, result.stderr[-2000:].strip()) if part) or "It failed without a word."
